-- SPDX-License-Identifier: Apache-2.0
-- As TPC-C's Delivery, by the FPGA: of two districts, one order each: their customers' balances.
\set d random(0, 18)
\set c permute(random_zipfian(1, 400, 1.001) - 1, 400, 1)
\set e permute(random_zipfian(1, 400, 1.001) - 1, 400, 1)
BEGIN;
SELECT pg_logical_emit_message(true, 'isthmus', 'fpga');
UPDATE isthmus_locks.district SET value = value + 1 WHERE id = :d;
UPDATE isthmus_locks.customer SET value = value + 1 WHERE id = :c;
UPDATE isthmus_locks.district SET value = value + 1 WHERE id = :d + 1;
UPDATE isthmus_locks.customer SET value = value + 1 WHERE id = :e;
COMMIT;
