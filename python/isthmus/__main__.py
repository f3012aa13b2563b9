# SPDX-License-Identifier: Apache-2.0
from isthmus.cli import main

main()
