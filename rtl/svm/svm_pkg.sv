// SPDX-License-Identifier: SHL-2.1
/// Types of shared virtual memory: sizes of pages, outcome of a translation, orders for locks.
package svm_pkg;
  /// The size of a page: 4 KiB, 2 MiB, 1 GiB.
  typedef enum logic [1:0] {
    SizeBase = 2'd0,
    SizeBig  = 2'd1,
    SizeHuge = 2'd2
  } page_size_e;

  /// What became of a lookup. Only with Ok is there an address.
  typedef enum logic [1:0] {
    StatusOk       = 2'd0,
    StatusUnmapped = 2'd1,  // no page
    StatusDenied   = 2'd2   // a page that does not allow this
  } status_e;
endpackage
