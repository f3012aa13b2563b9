-- SPDX-License-Identifier: Apache-2.0
-- As TPC-C's New-Order, of two items: a customer is read, a district's next number and two items' stock are updated.
\set d random(0, 19)
\set c permute(random_zipfian(1, 400, 1.001) - 1, 400, 1)
\set s permute(random_zipfian(1, 600, 1.001) - 1, 600, 2)
\set t permute(random_zipfian(1, 600, 1.001) - 1, 600, 2)
BEGIN;
SELECT value FROM isthmus_locks.customer WHERE id = :c FOR SHARE;
SELECT pg_logical_emit_message(true, 'isthmus', 'r customer ' || :c);
UPDATE isthmus_locks.district SET value = value + 1 WHERE id = :d;
UPDATE isthmus_locks.stock SET value = value - 1 WHERE id = :s;
UPDATE isthmus_locks.stock SET value = value - 1 WHERE id = :t;
COMMIT;
