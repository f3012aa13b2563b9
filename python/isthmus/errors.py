# SPDX-License-Identifier: Apache-2.0
"""Errors a person can act on: the command line prints their text as one line and exits."""

from __future__ import annotations


class UserError(Exception):
    """Something the caller gave or lacks: says what, where, and what would be right. Exit code 2."""

    exit_code = 2


class DataError(UserError):
    """The run itself went wrong: lost or wrong data, a figure worse than its baseline. Exit code 1."""

    exit_code = 1
