// SPDX-License-Identifier: SHL-2.1
// Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those.
/// Messages of the coherence protocol, and what each agent does with them
/// (docs/reference/coherence.md).
// verilator lint_off UNUSEDPARAM
package coherence_pkg;
  // Proofs of what does not depend on a line's bytes need few of them.
`ifdef COHERENCE_LINE_BYTES
  localparam int unsigned LineBytes = `COHERENCE_LINE_BYTES;
`else
  localparam int unsigned LineBytes = 128;
`endif
  localparam int unsigned LineWords = 16;
`ifdef COHERENCE_INDEX_WIDTH
  localparam int unsigned IndexWidth = `COHERENCE_INDEX_WIDTH;
`else
  localparam int unsigned IndexWidth = 33;  // of a line
`endif
  localparam int unsigned NumIds = 32;      // open requests a parity of the line index

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [8*LineBytes-1:0] line_t;
  typedef logic [LineBytes-1:0] mask_t;
  typedef logic [4:0] id_t;

  /// What is asked for at a port of lines. Where it is a load or a store, `write` says which.
  typedef enum logic [2:0] {
    LineUncached  = 3'd0,
    LineCached    = 3'd1,
    LineEvict     = 3'd2,
    LineIncrement = 3'd3,  // of the word that the mask selects; the old one is answered
    LineDecrement = 3'd4,
    LineSwap      = 3'd5   // word 0 of the data is compared with it, word 1 is its new value
  } line_kind_e;

  /// The first word of a message.
  typedef struct packed {
    logic [4:0]  opcode;
    logic [3:0]  zero_55;
    id_t         id;
    logic [3:0]  dmask;    // quarters of the line that follow
    logic        ns;
    logic [3:0]  dirty;    // quarters that memory does not have
    logic        zero_40;
    index_t      index;
    logic [6:0]  offset;
  } header_t;

  localparam logic [4:0] OpRlds = 5'd0;  // load, shared or better
  localparam logic [4:0] OpRldi = 5'd1;  // uncached load
  localparam logic [4:0] OpRldx = 5'd5;  // load for a store
  localparam logic [4:0] OpRupg = 5'd6;  // upgrade of a shared or owned copy
  localparam logic [4:0] OpRinc = 5'd14;  // uncached atomic: add 1
  localparam logic [4:0] OpRdec = 5'd15;  // uncached atomic: subtract 1
  localparam logic [4:0] OpRstt = 5'd8;  // uncached store of a whole line
  localparam logic [4:0] OpRstp = 5'd10;  // uncached store of the bytes of a mask
  localparam logic [4:0] OpRcas = 5'd19;  // uncached atomic: expected and new value
  localparam logic [4:0] OpFshr = 5'd0;  // share the line
  localparam logic [4:0] OpFinv = 5'd13;  // give the line up
  localparam logic [4:0] OpPsha = 5'd9;  // answer: shared
  localparam logic [4:0] OpPemd = 5'd10;  // answer: exclusive, dirty where its header says so
  localparam logic [4:0] OpPdat = 5'd8;  // answer of an uncached load
  localparam logic [4:0] OpPatm = 5'd11;  // answer of an atomic: the old value
  localparam logic [4:0] OpPack = 5'd12;  // answer without data
  localparam logic [4:0] OpVicd = 5'd0;  // evicted, dirty
  localparam logic [4:0] OpHakd = 5'd4;  // given up, dirty
  localparam logic [4:0] OpHako = 5'd5;  // shared, stays owner
  localparam logic [4:0] OpVicc = 5'd1;  // evicted, exclusive and clean
  localparam logic [4:0] OpVics = 5'd2;  // evicted, shared
  localparam logic [4:0] OpHaki = 5'd6;  // given up, clean
  localparam logic [4:0] OpHaks = 5'd7;  // shared, was exclusive and clean
  localparam logic [4:0] OpHakv = 5'd8;  // has no copy: a victim is in flight, or was
  localparam logic [4:0] OpGack = 5'd15;  // grant acknowledged

  typedef enum logic [4:0] {
    MsgNone = 5'd0,
    MsgRlds = 5'd1,
    MsgRldi = 5'd2,
    MsgRldx = 5'd3,
    MsgRupg = 5'd4,
    MsgRinc = 5'd5,
    MsgRdec = 5'd6,
    MsgRstt = 5'd7,
    MsgRstp = 5'd8,
    MsgRcas = 5'd9,
    MsgFshr = 5'd10,
    MsgFinv = 5'd11,
    MsgPsha = 5'd12,
    MsgPemd = 5'd13,
    MsgPdat = 5'd14,
    MsgPatm = 5'd15,
    MsgPack = 5'd16,
    MsgVicd = 5'd17,
    MsgHakd = 5'd18,
    MsgHako = 5'd19,
    MsgVicc = 5'd20,
    MsgVics = 5'd21,
    MsgHaki = 5'd22,
    MsgHaks = 5'd23,
    MsgHakv = 5'd24,
    MsgGack = 5'd25
  } message_e;

  typedef enum logic [3:0] {
    RemoteI = 4'd0,
    RemoteS = 4'd1,
    RemoteE = 4'd2,
    RemoteM = 4'd3,
    RemoteO = 4'd4,
    RemoteIs = 4'd5,
    RemoteIm = 4'd6,
    RemoteSm = 4'd7,
    RemoteOm = 4'd8
  } remote_e;

  typedef enum logic [3:0] {
    InLoad = 4'd0,
    InStore = 4'd1,
    InEvict = 4'd2,
    InFshr = 4'd3,
    InFinv = 4'd4,
    InPsha = 4'd5,
    InPemdClean = 4'd6,
    InPemdDirty = 4'd7,
    InPack = 4'd8
  } input_e;

  typedef enum logic [2:0] {
    HomeI = 3'd0,
    HomeS = 3'd1,
    HomeE = 3'd2,
    HomeM = 3'd3,
    HomeO = 3'd4
  } home_e;

  typedef enum logic [1:0] {
    DirI = 2'd0,
    DirS = 2'd1,
    DirE = 2'd2,
    DirO = 2'd3
  } directory_e;

  typedef enum logic [1:0] {
    PhaseIdle = 2'd0,
    PhaseGrant = 2'd1,
    PhaseReply = 2'd2,
    PhaseForward = 2'd3
  } phase_e;

  typedef enum logic [1:0] {
    CoreLoad = 2'd0,
    CoreStore = 2'd1,
    CoreEvict = 2'd2,
    CoreRecall = 2'd3
  } core_e;

  /// The virtual circuit of a message: odd lines use the even one of two.
  function automatic logic [3:0] circuit_of(message_e message, logic odd);
    unique case (message)
      MsgRstt, MsgRstp, MsgRcas:
        return odd ? 4'd2 : 4'd3;
      MsgPsha, MsgPemd, MsgPdat, MsgPatm, MsgVicd, MsgHakd, MsgHako:
        return odd ? 4'd4 : 4'd5;
      MsgRlds, MsgRldi, MsgRldx, MsgRupg, MsgRinc, MsgRdec:
        return odd ? 4'd6 : 4'd7;
      MsgFshr, MsgFinv:
        return odd ? 4'd8 : 4'd9;
      MsgPack, MsgVicc, MsgVics, MsgHaki, MsgHaks, MsgHakv, MsgGack:
        return odd ? 4'd10 : 4'd11;
      default: return 4'd15;
    endcase
  endfunction

  /// Words of a message by half its circuit's number and its code; 1 of what is unknown.
  function automatic logic [4:0] words_of(logic [2:0] pair, logic [4:0] opcode);
    unique case ({pair, opcode})
      {3'd1, OpRstt}: return 5'd17;
      {3'd1, OpRstp}: return 5'd19;
      {3'd1, OpRcas}: return 5'd3;
      {3'd2, OpPsha}: return 5'd17;
      {3'd2, OpPemd}: return 5'd17;
      {3'd2, OpPdat}: return 5'd17;
      {3'd2, OpPatm}: return 5'd2;
      {3'd2, OpVicd}: return 5'd17;
      {3'd2, OpHakd}: return 5'd17;
      {3'd2, OpHako}: return 5'd17;
      default: return 5'd1;
    endcase
  endfunction

  /// The message of a code on a pair of circuits; `MsgNone` of what is unknown.
  function automatic message_e message_of(logic [2:0] pair, logic [4:0] opcode);
    unique case ({pair, opcode})
      {3'd3, OpRlds}: return MsgRlds;
      {3'd3, OpRldi}: return MsgRldi;
      {3'd3, OpRldx}: return MsgRldx;
      {3'd3, OpRupg}: return MsgRupg;
      {3'd3, OpRinc}: return MsgRinc;
      {3'd3, OpRdec}: return MsgRdec;
      {3'd1, OpRstt}: return MsgRstt;
      {3'd1, OpRstp}: return MsgRstp;
      {3'd1, OpRcas}: return MsgRcas;
      {3'd4, OpFshr}: return MsgFshr;
      {3'd4, OpFinv}: return MsgFinv;
      {3'd2, OpPsha}: return MsgPsha;
      {3'd2, OpPemd}: return MsgPemd;
      {3'd2, OpPdat}: return MsgPdat;
      {3'd2, OpPatm}: return MsgPatm;
      {3'd5, OpPack}: return MsgPack;
      {3'd2, OpVicd}: return MsgVicd;
      {3'd2, OpHakd}: return MsgHakd;
      {3'd2, OpHako}: return MsgHako;
      {3'd5, OpVicc}: return MsgVicc;
      {3'd5, OpVics}: return MsgVics;
      {3'd5, OpHaki}: return MsgHaki;
      {3'd5, OpHaks}: return MsgHaks;
      {3'd5, OpHakv}: return MsgHakv;
      {3'd5, OpGack}: return MsgGack;
      default: return MsgNone;
    endcase
  endfunction

  /// The first word of a message of a whole line; `dirty` and `offset` are 0.
  function automatic header_t header_of(message_e message, id_t id, index_t index);
    logic [4:0] opcode;
    unique case (message)
      MsgRlds: opcode = OpRlds;
      MsgRldi: opcode = OpRldi;
      MsgRldx: opcode = OpRldx;
      MsgRupg: opcode = OpRupg;
      MsgRinc: opcode = OpRinc;
      MsgRdec: opcode = OpRdec;
      MsgRstt: opcode = OpRstt;
      MsgRstp: opcode = OpRstp;
      MsgRcas: opcode = OpRcas;
      MsgFshr: opcode = OpFshr;
      MsgFinv: opcode = OpFinv;
      MsgPsha: opcode = OpPsha;
      MsgPemd: opcode = OpPemd;
      MsgPdat: opcode = OpPdat;
      MsgPatm: opcode = OpPatm;
      MsgPack: opcode = OpPack;
      MsgVicd: opcode = OpVicd;
      MsgHakd: opcode = OpHakd;
      MsgHako: opcode = OpHako;
      MsgVicc: opcode = OpVicc;
      MsgVics: opcode = OpVics;
      MsgHaki: opcode = OpHaki;
      MsgHaks: opcode = OpHaks;
      MsgHakv: opcode = OpHakv;
      MsgGack: opcode = OpGack;
      default: opcode = '1;
    endcase
    return '{opcode: opcode, zero_55: '0, id: id, dmask: '1, ns: 1'b0, dirty: '0,
             zero_40: 1'b0, index: index, offset: '0};
  endfunction

  typedef struct packed {
    logic     never;   // cannot occur
    logic     hit;     // done without a message
    logic     blocked; // not in this state: wait
    logic     gack;    // a GACK is owed from now on
    message_e emits;
    remote_e  state;
  } remote_step_t;

  /// What the remote cache does with a line in `state` at an input.
  function automatic remote_step_t remote_step(remote_e state, input_e what);
    unique case ({state, what})
      {RemoteI, InLoad}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgRlds, RemoteIs};
      {RemoteI, InStore}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgRldx, RemoteIm};
      {RemoteI, InEvict}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteI};
      {RemoteI, InFshr}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakv, RemoteI};
      {RemoteI, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakv, RemoteI};
      {RemoteS, InLoad}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteS};
      {RemoteS, InStore}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgRupg, RemoteSm};
      {RemoteS, InEvict}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgVics, RemoteI};
      {RemoteS, InFshr}:
        return {1'b1, 1'b0, 1'b0, 1'b0, MsgNone, RemoteS};
      {RemoteS, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHaki, RemoteI};
      {RemoteE, InLoad}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteE};
      {RemoteE, InStore}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteM};
      {RemoteE, InEvict}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgVicc, RemoteI};
      {RemoteE, InFshr}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHaks, RemoteS};
      {RemoteE, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHaki, RemoteI};
      {RemoteM, InLoad}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteM};
      {RemoteM, InStore}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteM};
      {RemoteM, InEvict}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgVicd, RemoteI};
      {RemoteM, InFshr}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHako, RemoteO};
      {RemoteM, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakd, RemoteI};
      {RemoteO, InLoad}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteO};
      {RemoteO, InStore}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgRupg, RemoteOm};
      {RemoteO, InEvict}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgVicd, RemoteI};
      {RemoteO, InFshr}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHako, RemoteO};
      {RemoteO, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakd, RemoteI};
      {RemoteIs, InLoad}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteIs};
      {RemoteIs, InStore}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteIs};
      {RemoteIs, InEvict}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteIs};
      {RemoteIs, InFshr}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakv, RemoteIs};
      {RemoteIs, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakv, RemoteIs};
      {RemoteIs, InPsha}:
        return {1'b0, 1'b0, 1'b0, 1'b1, MsgNone, RemoteS};
      {RemoteIs, InPemdClean}:
        return {1'b0, 1'b0, 1'b0, 1'b1, MsgNone, RemoteE};
      {RemoteIs, InPemdDirty}:
        return {1'b1, 1'b0, 1'b0, 1'b0, MsgNone, RemoteIs};
      {RemoteIm, InLoad}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteIm};
      {RemoteIm, InStore}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteIm};
      {RemoteIm, InEvict}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteIm};
      {RemoteIm, InFshr}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakv, RemoteIm};
      {RemoteIm, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakv, RemoteIm};
      {RemoteIm, InPemdClean}:
        return {1'b0, 1'b0, 1'b0, 1'b1, MsgNone, RemoteM};
      {RemoteIm, InPemdDirty}:
        return {1'b0, 1'b0, 1'b0, 1'b1, MsgNone, RemoteM};
      {RemoteSm, InLoad}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteSm};
      {RemoteSm, InStore}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteSm};
      {RemoteSm, InEvict}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteSm};
      {RemoteSm, InFshr}:
        return {1'b1, 1'b0, 1'b0, 1'b0, MsgNone, RemoteSm};
      {RemoteSm, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHaki, RemoteIm};
      {RemoteSm, InPack}:
        return {1'b0, 1'b0, 1'b0, 1'b1, MsgNone, RemoteM};
      {RemoteOm, InLoad}:
        return {1'b0, 1'b1, 1'b0, 1'b0, MsgNone, RemoteOm};
      {RemoteOm, InStore}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteOm};
      {RemoteOm, InEvict}:
        return {1'b0, 1'b0, 1'b1, 1'b0, MsgNone, RemoteOm};
      {RemoteOm, InFshr}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHako, RemoteOm};
      {RemoteOm, InFinv}:
        return {1'b0, 1'b0, 1'b0, 1'b0, MsgHakd, RemoteIm};
      {RemoteOm, InPack}:
        return {1'b0, 1'b0, 1'b0, 1'b1, MsgNone, RemoteM};
      default: return {4'b1000, MsgNone, state};
    endcase
  endfunction

  typedef struct packed {
    logic       never;  // cannot occur
    logic       hold;   // waits until a victim has come
    logic       write;  // into the home's copy, else into memory
    logic       dirty;  // the answer says so
    logic       grant;  // the transaction waits for GACK
    message_e   answer;
    message_e   forward;
    home_e      home;
    directory_e directory;
  } home_step_t;

  /// What the home does with a request for a line without an open transaction.
  function automatic home_step_t home_step(directory_e directory, home_e home, message_e message);
    unique case ({directory, home, message})
      {DirI, HomeI, MsgRlds}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeI, MsgRldx}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeI, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeS, MsgRlds}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPsha, MsgNone, HomeS, DirS};
      {DirI, HomeE, MsgRlds}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPsha, MsgNone, HomeS, DirS};
      {DirI, HomeM, MsgRlds}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPsha, MsgNone, HomeO, DirS};
      {DirI, HomeO, MsgRlds}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPsha, MsgNone, HomeO, DirS};
      {DirI, HomeS, MsgRldx}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeS, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeE, MsgRldx}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeE, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeM, MsgRldx}:
        return {1'b0, 1'b0, 1'b0, 1'b1, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeM, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b1, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeO, MsgRldx}:
        return {1'b0, 1'b0, 1'b0, 1'b1, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeO, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b1, 1'b1, MsgPemd, MsgNone, HomeI, DirE};
      {DirI, HomeI, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeI, DirI};
      {DirI, HomeS, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeS, DirI};
      {DirI, HomeE, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeE, DirI};
      {DirI, HomeM, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeM, DirI};
      {DirI, HomeO, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeO, DirI};
      {DirI, HomeI, MsgRstt}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeI, DirI};
      {DirI, HomeI, MsgRstp}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeI, DirI};
      {DirI, HomeS, MsgRstt}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeS, MsgRstp}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeE, MsgRstt}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeE, MsgRstp}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeM, MsgRstt}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeM, MsgRstp}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeO, MsgRstt}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeO, MsgRstp}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPack, MsgNone, HomeM, DirI};
      {DirI, HomeI, MsgRinc}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeI, DirI};
      {DirI, HomeI, MsgRdec}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeI, DirI};
      {DirI, HomeI, MsgRcas}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeI, DirI};
      {DirI, HomeS, MsgRinc}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeS, MsgRdec}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeS, MsgRcas}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeE, MsgRinc}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeE, MsgRdec}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeE, MsgRcas}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeM, MsgRinc}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeM, MsgRdec}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeM, MsgRcas}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeO, MsgRinc}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeO, MsgRdec}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirI, HomeO, MsgRcas}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, MsgPatm, MsgNone, HomeM, DirI};
      {DirS, HomeI, MsgRlds}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeI, DirS};
      {DirS, HomeI, MsgRldx}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeI, DirS};
      {DirS, HomeS, MsgRlds}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeS, DirS};
      {DirS, HomeS, MsgRldx}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeS, DirS};
      {DirS, HomeO, MsgRlds}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeO, DirS};
      {DirS, HomeO, MsgRldx}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeO, DirS};
      {DirS, HomeI, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPack, MsgNone, HomeI, DirE};
      {DirS, HomeS, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPack, MsgNone, HomeI, DirE};
      {DirS, HomeO, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPack, MsgNone, HomeI, DirE};
      {DirS, HomeI, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeI, DirS};
      {DirS, HomeS, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeS, DirS};
      {DirS, HomeO, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeO, DirS};
      {DirS, HomeI, MsgRstt}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirS};
      {DirS, HomeI, MsgRstp}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirS};
      {DirS, HomeI, MsgRinc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirS};
      {DirS, HomeI, MsgRdec}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirS};
      {DirS, HomeI, MsgRcas}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirS};
      {DirS, HomeS, MsgRstt}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirS};
      {DirS, HomeS, MsgRstp}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirS};
      {DirS, HomeS, MsgRinc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirS};
      {DirS, HomeS, MsgRdec}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirS};
      {DirS, HomeS, MsgRcas}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirS};
      {DirS, HomeO, MsgRstt}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeO, DirS};
      {DirS, HomeO, MsgRstp}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeO, DirS};
      {DirS, HomeO, MsgRinc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeO, DirS};
      {DirS, HomeO, MsgRdec}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeO, DirS};
      {DirS, HomeO, MsgRcas}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeO, DirS};
      {DirE, HomeI, MsgRlds}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeI, DirE};
      {DirE, HomeI, MsgRldx}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeI, DirE};
      {DirE, HomeI, MsgRupg}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeI, DirE};
      {DirE, HomeI, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFshr, HomeI, DirE};
      {DirE, HomeI, MsgRstt}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirE};
      {DirE, HomeI, MsgRstp}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirE};
      {DirE, HomeI, MsgRinc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirE};
      {DirE, HomeI, MsgRdec}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirE};
      {DirE, HomeI, MsgRcas}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirE};
      {DirO, HomeI, MsgRlds}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeI, DirO};
      {DirO, HomeI, MsgRldx}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeI, DirO};
      {DirO, HomeS, MsgRlds}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeS, DirO};
      {DirO, HomeS, MsgRldx}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, MsgNone, MsgNone, HomeS, DirO};
      {DirO, HomeI, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPack, MsgNone, HomeI, DirE};
      {DirO, HomeS, MsgRupg}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b1, MsgPack, MsgNone, HomeI, DirE};
      {DirO, HomeI, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFshr, HomeI, DirO};
      {DirO, HomeS, MsgRldi}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgPdat, MsgNone, HomeS, DirO};
      {DirO, HomeI, MsgRstt}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirO};
      {DirO, HomeI, MsgRstp}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirO};
      {DirO, HomeI, MsgRinc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirO};
      {DirO, HomeI, MsgRdec}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirO};
      {DirO, HomeI, MsgRcas}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeI, DirO};
      {DirO, HomeS, MsgRstt}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirO};
      {DirO, HomeS, MsgRstp}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirO};
      {DirO, HomeS, MsgRinc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirO};
      {DirO, HomeS, MsgRdec}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirO};
      {DirO, HomeS, MsgRcas}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, MsgNone, MsgFinv, HomeS, DirO};
      default: return {5'b10000, MsgNone, MsgNone, home, directory};
    endcase
  endfunction

  typedef struct packed {
    logic     never;   // no such row
    message_e forward; // and go on when the remote has answered; MsgNone: done at once
    home_e    home;
  } core_step_t;

  /// What the home's own core does with a line without an open transaction. A load of a line that
  /// the home has a copy of needs none of this.
  function automatic core_step_t core_step(core_e what, directory_e directory, home_e home);
    unique case ({what, directory})
      {CoreLoad, DirI}:
        return {1'b0, MsgNone, HomeE};
      {CoreLoad, DirS}:
        return {1'b0, MsgNone, HomeS};
      {CoreLoad, DirE}:
        return {1'b0, MsgFshr, home};
      {CoreLoad, DirO}:
        return {1'b0, MsgFshr, home};
      {CoreStore, DirI}:
        return {1'b0, MsgNone, HomeM};
      {CoreStore, DirS}:
        return {1'b0, MsgFinv, home};
      {CoreStore, DirE}:
        return {1'b0, MsgFinv, home};
      {CoreStore, DirO}:
        return {1'b0, MsgFinv, home};
      {CoreRecall, DirS}:
        return {1'b0, MsgFinv, home};
      {CoreRecall, DirE}:
        return {1'b0, MsgFinv, home};
      {CoreRecall, DirO}:
        return {1'b0, MsgFinv, home};
      default: return {1'b1, MsgNone, home};
    endcase
  endfunction

  typedef struct packed {
    logic       never;  // cannot occur
    logic       memory; // its data are written
    logic       heard;  // the remote has answered the forward
    logic       victim; // a victim was seen
    logic       needed; // a victim must come
    logic       free;   // the transaction ends
    directory_e directory;
  } response_step_t;

  /// What a response does at the home. `seen`: a victim came since the forward.
  function automatic response_step_t response_step(
    phase_e phase, message_e message, directory_e directory, logic seen
  );
    unique case ({phase, message})
      {PhaseIdle, MsgVicd}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseGrant, MsgVicd}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseReply, MsgVicd}:
        return {1'b0, 1'b1, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseForward, MsgVicd}:
        return {1'b0, 1'b1, 1'b0, 1'b1, 1'b0, 1'b0, DirI};
      {PhaseIdle, MsgVicc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseGrant, MsgVicc}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseIdle, MsgVics}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseGrant, MsgVics}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseReply, MsgVics}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseForward, MsgVicc}:
        return {1'b0, 1'b0, 1'b0, 1'b1, 1'b0, 1'b0, DirI};
      {PhaseForward, MsgVics}:
        return {1'b0, 1'b0, 1'b0, 1'b1, 1'b0, 1'b0, DirI};
      {PhaseForward, MsgHakd}:
        return {1'b0, 1'b1, 1'b1, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseForward, MsgHaki}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, 1'b0, DirI};
      {PhaseForward, MsgHako}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, 1'b0, seen ? DirI : DirO};
      {PhaseForward, MsgHaks}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b0, 1'b0, seen ? DirI : DirS};
      {PhaseForward, MsgHakv}:
        return {1'b0, 1'b0, 1'b1, 1'b0, 1'b1, 1'b0, directory};
      {PhaseGrant, MsgGack}:
        return {1'b0, 1'b0, 1'b0, 1'b0, 1'b0, 1'b1, directory};
      {PhaseIdle, MsgHakd}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseIdle, MsgHaki}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseIdle, MsgHako}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseIdle, MsgHaks}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseIdle, MsgHakv}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseIdle, MsgGack}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseGrant, MsgHakd}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseReply, MsgHakd}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseGrant, MsgHaki}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseReply, MsgHaki}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseGrant, MsgHako}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseReply, MsgHako}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseGrant, MsgHaks}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseReply, MsgHaks}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseGrant, MsgHakv}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseReply, MsgHakv}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseForward, MsgGack}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseReply, MsgGack}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      {PhaseReply, MsgVicc}:
        return {1'b1, 1'b0, 1'b0, 1'b0, 1'b0, 1'b0, directory};
      default: return {6'b100000, directory};
    endcase
  endfunction

endpackage
// verilator lint_on UNUSEDPARAM
