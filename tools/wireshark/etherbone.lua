-- SPDX-License-Identifier: Apache-2.0
-- Etherbone for Wireshark and tshark: version 1 (OHWR) over UDP and TCP, and LiteEth's dialect over UDP.
--
--   tshark -X lua_script:tools/wireshark/etherbone.lua -r capture.pcapng
--
-- Ports 60368 (UDP, TCP) by number; other UDP ports by the first bytes. Which dialect a datagram is in is told
-- by its layout, since both begin alike: LiteEth has four zero bytes more in its header, one record, and
-- mirrored flags. A capture on the sender's own machine may hold what it gave to the network card as one
-- datagram, to be cut there (UDP segmentation offload): a header where a record could begin is the next
-- message's, and each message is shown by itself. Over TCP the probe comes once, so that a capture without it is taken as 32/32 bit.

local eb = Proto("etherbone", "Etherbone")

local dialects = { ohwr = "OHWR", lite = "LiteEth" }
local f = {
  magic = ProtoField.uint16("etherbone.magic", "Magic", base.HEX),
  version = ProtoField.uint8("etherbone.version", "Version", base.DEC, nil, 0xF0),
  no_reads = ProtoField.bool("etherbone.nr", "No reads: no reply wanted, or a reply", 8, nil, 0x04),
  probe_reply = ProtoField.bool("etherbone.pr", "Probe reply", 8, nil, 0x02),
  probe = ProtoField.bool("etherbone.pf", "Probe", 8, nil, 0x01),
  addr_width = ProtoField.string("etherbone.addr_width", "Address widths"),
  data_width = ProtoField.string("etherbone.data_width", "Data widths"),
  probe_id = ProtoField.uint32("etherbone.probe_id", "Probe number", base.HEX),
  dialect = ProtoField.string("etherbone.dialect", "Dialect"),
  record = ProtoField.none("etherbone.record", "Record"),
  flags = ProtoField.uint8("etherbone.flags", "Flags (BCA 80 RCA 40 RFF 20 CYC 08 WCA 04 WFF 02)", base.HEX),
  byte_enable = ProtoField.uint8("etherbone.byte_enable", "Byte enable", base.HEX),
  wcount = ProtoField.uint8("etherbone.wcount", "Writes"),
  rcount = ProtoField.uint8("etherbone.rcount", "Reads"),
  write_address = ProtoField.uint64("etherbone.write.address", "Write address", base.HEX),
  write_value = ProtoField.uint64("etherbone.write.value", "Value", base.HEX),
  return_base = ProtoField.uint64("etherbone.return_address", "Return address", base.HEX),
  bundle = ProtoField.uint32("etherbone.bundle", "Messages, cut into datagrams by the network card", base.DEC),
  read_address = ProtoField.uint64("etherbone.read.address", "Read address", base.HEX),
}
eb.fields = f

local malformed = ProtoExpert.new("etherbone.malformed", "Malformed Etherbone", expert.group.MALFORMED,
  expert.severity.ERROR)
eb.experts = { malformed }

local HEADER_MAGIC = 0x4E6F
local PORT = 60368

-- Bits of a byte, bit 7 first, as the protocol numbers them.
local function bit(range, number)
  return range:bitfield(7 - number, 1) == 1
end

local function mirrored(value)
  local result = 0
  for _ = 1, 8 do
    result = result * 2 + value % 2
    value = math.floor(value / 2)
  end
  return result
end

local function has(flags, mask)
  return math.floor(flags / mask) % 2 == 1
end

local function widths(mask)
  local names = {}
  for index, name in ipairs({ "8", "16", "32", "64" }) do
    if has(mask, 2 ^ (index - 1)) then
      names[#names + 1] = name
    end
  end
  return #names == 0 and "none" or table.concat(names, "/")
end

-- Bytes of the one width that a mask names, or nothing.
local function single(mask)
  return ({ [1] = 1, [2] = 2, [4] = 4, [8] = 8 })[mask]
end

local function format_of(byte)
  local address, data = single(math.floor(byte / 16)), single(byte % 16)
  if address == nil or data == nil then
    return nil
  end
  local word = math.max(2, address, data)
  return { word = word, head = math.max(4, word), data = data, lite = false }
end

local function slots(format, writes, reads)
  return (writes > 0 and writes + 1 or 0) + (reads > 0 and reads + 1 or 0)
end

-- Bytes of the record at an offset, or nothing where it does not end.
local function record_length(format, buffer, offset)
  if buffer:len() < offset + format.head then
    return nil
  end
  local writes, reads = buffer(offset + 2, 1):uint(), buffer(offset + 3, 1):uint()
  local length = format.head + format.word * slots(format, writes, reads)
  return buffer:len() >= offset + length and length or nil
end

-- LiteEth: a header of 8 bytes whose second half is 0, then one record to the end. The bit that ends a cycle
-- in every other dialect's last record is reserved in this one.
local function lite_format(buffer)
  if buffer:len() < 12 or buffer(3, 1):uint() ~= 0x44 or buffer(4, 4):uint() ~= 0 then
    return nil
  end
  local format = { word = 4, head = 4, data = 4, lite = true }
  if record_length(format, buffer, 8) ~= buffer:len() - 8 or has(buffer(8, 1):uint(), 0x08) then
    return nil
  end
  return format
end

-- A message's header at an offset. As a record with 32-bit data it would be none: its byte enables say 0x6F.
local function header_at(buffer, offset)
  return buffer:len() >= offset + 4 and buffer(offset, 2):uint() == HEADER_MAGIC
    and buffer(offset + 2, 1):bitfield(0, 4) == 1
end

-- Bytes of the message at an offset: to the end, or to the next message's header.
local function message_length(buffer, offset)
  local rest = buffer:len() - offset
  local function ends(length)
    return length == rest or (length < rest and header_at(buffer, offset + length))
  end
  if bit(buffer(offset + 2, 1), 0) or bit(buffer(offset + 2, 1), 1) then
    return ends(8) and 8 or ends(12) and 12 or rest
  end
  if rest >= 12 and buffer(offset + 3, 1):uint() == 0x44 and buffer(offset + 4, 4):uint() == 0 then
    local format = { word = 4, head = 4, data = 4, lite = true }
    local record = record_length(format, buffer, offset + 8)
    if record ~= nil and not has(buffer(offset + 8, 1):uint(), 0x08) and ends(8 + record) then
      return 8 + record
    end
  end
  local format = format_of(buffer(offset + 3, 1):uint())
  if format == nil then
    return rest
  end
  local length = format.head
  while length < rest and not header_at(buffer, offset + length) do
    local record = record_length(format, buffer, offset + length)
    if record == nil then
      return rest
    end
    length = length + record
  end
  return length
end

local function slot(range)
  return range:len() == 8 and range:uint64() or UInt64.new(range:uint())
end

local function hex(value)
  local text = value:tohex():gsub("^0+", "")
  return "0x" .. (text == "" and "0" or text)
end

local function dissect_record(buffer, offset, format, tree, told)
  local length = record_length(format, buffer, offset)
  local flags = buffer(offset, 1):uint()
  flags = format.lite and mirrored(flags) or flags
  local writes, reads = buffer(offset + 2, 1):uint(), buffer(offset + 3, 1):uint()
  local record = tree:add(f.record, buffer(offset, length))
  record:append_text(string.format(": %d writes, %d reads", writes, reads))
  record:add(f.flags, buffer(offset, 1), flags)
  record:add(f.byte_enable, buffer(offset + 1, 1))
  record:add(f.wcount, buffer(offset + 2, 1))
  record:add(f.rcount, buffer(offset + 3, 1))
  local at = offset + format.head
  local function take()
    local range = buffer(at, format.word)
    at = at + format.word
    return range
  end
  if writes > 0 then
    local base_range = take()
    local address = slot(base_range)
    local space = has(flags, 0x04) and "config " or ""
    for _ = 1, writes do
      local range = take()
      local value = slot(range)
      local line = record:add(f.write_value, range, value)
      line:set_text(string.format("%swrite %s = %s", space, hex(address), hex(value)))
      line:add(f.write_address, base_range, address)
      told[#told + 1] = string.format("%sW %s=%s", space, hex(address), hex(value))
      if not has(flags, 0x02) then
        address = address + format.data
      end
    end
  end
  if reads > 0 then
    record:add(f.return_base, take())
    local space = has(flags, 0x40) and "config " or ""
    for _ = 1, reads do
      local range = take()
      local line = record:add(f.read_address, range, slot(range))
      line:set_text(string.format("%sread %s", space, hex(slot(range))))
      told[#told + 1] = string.format("%sR %s", space, hex(slot(range)))
    end
  end
  return length
end

local function dissect_header(buffer, tree, dialect)
  tree:add(f.magic, buffer(0, 2))
  tree:add(f.version, buffer(2, 1))
  tree:add(f.no_reads, buffer(2, 1))
  tree:add(f.probe_reply, buffer(2, 1))
  tree:add(f.probe, buffer(2, 1))
  local byte = buffer(3, 1):uint()
  tree:add(f.addr_width, buffer(3, 1), widths(math.floor(byte / 16)))
  tree:add(f.data_width, buffer(3, 1), widths(byte % 16))
  tree:add(f.dialect, buffer(0, 4), dialects[dialect]):set_generated()
end

local function dissect_probe(buffer, pinfo, tree, dialect)
  dissect_header(buffer, tree, dialect)
  tree:add(f.probe_id, buffer(4, 4))
  local byte = buffer(3, 1):uint()
  local name = bit(buffer(2, 1), 1) and "Probe reply" or "Probe"
  pinfo.cols.info = string.format("%s, address %s data %s bit", name, widths(math.floor(byte / 16)),
    widths(byte % 16))
end

local function shown(told, reply)
  local first = {}
  for index = 1, math.min(#told, 4) do
    first[index] = told[index]
  end
  local rest = #told > 4 and string.format(" ... (%d operations)", #told) or ""
  return (reply and "Reply " or "") .. table.concat(first, ", ") .. rest
end

local function is_etherbone(buffer)
  return buffer:len() >= 4 and buffer(0, 2):uint() == HEADER_MAGIC and buffer(2, 1):bitfield(0, 4) == 1
end

local function dissect_message(buffer, pinfo, root)
  pinfo.cols.protocol = "Etherbone"
  local tree = root:add(eb, buffer())
  local is_probe = bit(buffer(2, 1), 0) or bit(buffer(2, 1), 1)
  if is_probe then
    local length = buffer:len()
    if length ~= 8 and length ~= 12 then
      tree:add_proto_expert_info(malformed, string.format("a probe of %d bytes: 8, or LiteEth's 12", length))
      return
    end
    dissect_probe(buffer, pinfo, tree, length == 12 and "lite" or "ohwr")
    return
  end
  local format = lite_format(buffer)
  dissect_header(buffer, tree, format and "lite" or "ohwr")
  local offset = 8
  if format == nil then
    format = format_of(buffer(3, 1):uint())
    if format == nil then
      tree:add_proto_expert_info(malformed, "each half of the widths must name exactly one")
      return
    end
    offset = format.head
  end
  local told = {}
  while offset < buffer:len() do
    if record_length(format, buffer, offset) == nil then
      tree:add_proto_expert_info(malformed, string.format("the record at byte %d is cut off", offset))
      break
    end
    offset = offset + dissect_record(buffer, offset, format, tree, told)
  end
  pinfo.cols.info = shown(told, bit(buffer(2, 1), 2))
end

local function dissect_datagram(buffer, pinfo, root)
  local offset, count, told = 0, 0, {}
  while offset < buffer:len() do
    local length = message_length(buffer, offset)
    dissect_message(length == buffer:len() and buffer or buffer(offset, length):tvb(), pinfo, root)
    told[#told + 1] = tostring(pinfo.cols.info)
    offset, count = offset + length, count + 1
  end
  if count > 1 then
    root:add(f.bundle, buffer(), count):set_generated()
    pinfo.cols.info = string.format("%d messages: %s", count, table.concat(told, " | "))
  end
end

function eb.dissector(buffer, pinfo, root)
  if not is_etherbone(buffer) then
    return 0
  end
  dissect_datagram(buffer, pinfo, root)
  return buffer:len()
end

local function heuristic(buffer, pinfo, root)
  if not is_etherbone(buffer) then
    return false
  end
  dissect_datagram(buffer, pinfo, root)
  return true
end

-- What a stream's probe agreed on, by the stream's number.
local streams = {}
local stream_number = Field.new("tcp.stream")

function eb.init()
  streams = {}
end

local tcp = Proto("etherbone_tcp", "Etherbone stream")

function tcp.dissector(buffer, pinfo, root)
  pinfo.cols.protocol = "Etherbone"
  local number = stream_number()
  local state = streams[number and number.value or -1] or {}
  streams[number and number.value or -1] = state
  local tree = root:add(eb, buffer())
  local offset = 0
  if is_etherbone(buffer) and buffer:len() >= 8 then
    dissect_probe(buffer, pinfo, tree, "ohwr")
    -- The reply names what the slave has; the largest of each is used.
    if bit(buffer(2, 1), 1) then
      local byte = buffer(3, 1):uint()
      local function largest(mask)
        return has(mask, 8) and 8 or has(mask, 4) and 4 or has(mask, 2) and 2 or 1
      end
      state.format = format_of(16 * largest(math.floor(byte / 16)) + largest(byte % 16))
    end
    offset = 8
  end
  local format = state.format or format_of(0x44)
  local told = {}
  while offset < buffer:len() do
    local length = record_length(format, buffer, offset)
    if length == nil then
      pinfo.desegment_offset = offset
      pinfo.desegment_len = DESEGMENT_ONE_MORE_SEGMENT
      break
    end
    dissect_record(buffer, offset, format, tree, told)
    offset = offset + length
  end
  if #told > 0 then
    pinfo.cols.info = shown(told, pinfo.src_port == PORT)
  end
end

DissectorTable.get("udp.port"):add(PORT, eb)
DissectorTable.get("tcp.port"):add(PORT, tcp)
eb:register_heuristic("udp", heuristic)
