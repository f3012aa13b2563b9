// SPDX-License-Identifier: SHL-2.1
/// Stands for blocklink_crc24 in proofs: a check that is right exactly for the block's own number.
///
/// The lanes of a proof alter the check's highest bit, which no number reaches. So every altered
/// block is found, as the proof assumes of the real check.
module blocklink_crc24 (
  input  logic [511:0] data_i,
  output logic [23:0]  crc_o
);
  // The number is in the check's place, the lowest bits of the control word, above the payload.
  assign crc_o = data_i[blocklink_pkg::BlockWords*blocklink_pkg::WordWidth+:24];
endmodule
