-- SPDX-License-Identifier: Apache-2.0
-- As TPC-C's Payment: a warehouse, one of its districts, a customer.
\set w random(0, 1)
\set d 10 * :w + random(0, 9)
\set c permute(random_zipfian(1, 400, 1.001) - 1, 400, 1)
BEGIN;
UPDATE isthmus_locks.warehouse SET value = value + 1 WHERE id = :w;
UPDATE isthmus_locks.district SET value = value + 1 WHERE id = :d;
UPDATE isthmus_locks.customer SET value = value - 1 WHERE id = :c;
COMMIT;
