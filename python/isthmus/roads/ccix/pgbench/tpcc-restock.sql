-- SPDX-License-Identifier: Apache-2.0
-- By the FPGA: four items that follow each other are restocked. A near-data job; TPC-C has none.
\set s permute(random_zipfian(1, 150, 1.001) - 1, 150, 3)
BEGIN;
SELECT pg_logical_emit_message(true, 'isthmus', 'fpga');
UPDATE isthmus_locks.stock SET value = value + 10 WHERE id = 4 * :s;
UPDATE isthmus_locks.stock SET value = value + 10 WHERE id = 4 * :s + 1;
UPDATE isthmus_locks.stock SET value = value + 10 WHERE id = 4 * :s + 2;
UPDATE isthmus_locks.stock SET value = value + 10 WHERE id = 4 * :s + 3;
COMMIT;
