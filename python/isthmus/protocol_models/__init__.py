# SPDX-License-Identifier: Apache-2.0
"""Models of protocols for the model checker rumur, each with variants that have one thing wrong.

`catalog` has all of them and what each must come to. `benchmarks/protocol_variants.py` explores them, the
tests those that are small.
"""
