# SPDX-License-Identifier: Apache-2.0
from bench import run


def test_lock_table() -> None:
    run(
        "isthmus:svm:svm",
        "lock_table",
        "lock_table_tb",
        parameters={"Locks": 16, "NumWait": 8, "OwnerWidth": 4, "HoldersWidth": 4},
    )
