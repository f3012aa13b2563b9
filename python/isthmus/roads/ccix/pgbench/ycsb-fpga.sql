-- SPDX-License-Identifier: Apache-2.0
-- Two rows by a zipfian law, each read or updated. The exponent is the smallest that pgbench takes; YCSB's is 0.99.
\set a permute(random_zipfian(1, 1024, 1.001) - 1, 1024, 1)
\set b permute(random_zipfian(1, 1024, 1.001) - 1, 1024, 1)
\set a_updated random(0, 1)
\set b_updated random(0, 1)
BEGIN;
SELECT pg_logical_emit_message(true, 'isthmus', 'fpga');
\if :a_updated
UPDATE isthmus_locks.usertable SET value = value + 1 WHERE id = :a;
\else
SELECT value FROM isthmus_locks.usertable WHERE id = :a FOR SHARE;
SELECT pg_logical_emit_message(true, 'isthmus', 'r usertable ' || :a);
\endif
\if :b_updated
UPDATE isthmus_locks.usertable SET value = value + 1 WHERE id = :b;
\else
SELECT value FROM isthmus_locks.usertable WHERE id = :b FOR SHARE;
SELECT pg_logical_emit_message(true, 'isthmus', 'r usertable ' || :b);
\endif
COMMIT;
