// Reads our recordings with the official MCAP reader and compares every message with what was
// meant; then has the official writer copy one, and our reader read the copy.
//   node judge.mjs FOLDER JUDGED_RECORDING

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { crc32 } from "@foxglove/crc";
import { McapIndexedReader, McapStreamReader, McapWriter } from "@mcap/core";
import { FileHandleReadable } from "@mcap/nodejs";
import { protobufFromBinaryDescriptor } from "@mcap/support";

const [folder, judgedRecording] = process.argv.slice(2);

// A decoder per channel, made from nothing but the schema inside the file.
function makeDecoder(schema) {
  assert.equal(schema.encoding, "protobuf");
  const root = protobufFromBinaryDescriptor(schema.data);
  const type = root.lookupType(schema.name);
  // PlotJuggler takes the time from a top-level double of this name.
  assert.equal(type.fields.timestamp?.type, "double", schema.name);
  const options = { longs: String, enums: Number, arrays: true, defaults: true };
  return (data) => toPlain(type.toObject(type.decode(data), options));
}

// Field names as in the schema, bytes as hex, NaN as text: the form of expected.jsonl.
function toPlain(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value === "number" && Number.isNaN(value)) return "NaN";
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [snake(key), toPlain(entry)]));
}

// protobufjs turns names into camel case: angle_rad is angleRad.
function snake(name) {
  return name.replace(/([a-z0-9])([A-Z])/g, (_, before, upper) => before + "_" + upper.toLowerCase());
}

function readExpected(name) {
  return readFileSync(`${folder}/${name}`, "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

function compare(actual, expected, what) {
  assert.equal(actual.length, expected.length, `${what}: number of messages`);
  for (let k = 0; k < actual.length; ++k) assert.deepEqual(actual[k], expected[k], `${what}: message ${k}`);
}

// Front to back: every record and every checksum, in the order of the file.
function readStream(path) {
  const bytes = readFileSync(path);
  const reader = new McapStreamReader({ includeChunks: true, validateCrcs: true });
  reader.append(bytes);
  const schemas = new Map(), channels = new Map(), messages = [];
  for (let record; (record = reader.nextRecord()); ) {
    if (record.type === "Schema") schemas.set(record.id, makeDecoder(record));
    if (record.type === "Channel") channels.set(record.id, record);
    if (record.type === "Chunk") {
      assert.notEqual(record.uncompressedCrc, 0, "chunk checksum");
      assert.ok(record.messageEndTime - record.messageStartTime <= 250_000_000n, "chunk duration");
    }
    if (record.type === "Message") {
      const channel = channels.get(record.channelId);
      messages.push({ topic: channel.topic, ...schemas.get(channel.schemaId)(record.data) });
    }
  }
  assert.ok(reader.done(), "the file ends as it should");
  return messages;
}

// Through the summary, as Foxglove and PlotJuggler open a file.
async function readIndexed(path, expectedCount) {
  const bytes = readFileSync(path);
  const handle = await open(path);
  const reader = await McapIndexedReader.Initialize({ readable: new FileHandleReadable(handle) });
  assert.equal(reader.header.library, "rigcal");
  assert.equal(reader.dataSectionCrc, crc32(bytes.subarray(0, Number(reader.dataEndOffset))));
  assert.notEqual(reader.footer.summaryCrc, 0);
  for (const [opcode, group] of reader.summaryOffsetsByOpcode) {
    assert.equal(bytes[Number(group.groupStart)], opcode, "summary offset");
  }
  assert.deepEqual([...reader.summaryOffsetsByOpcode.keys()].sort((a, b) => a - b),
    [3, 4, 8, 10, 11, 13], "summary groups");

  const counts = new Map(), messages = [];
  let last = 0n;
  const decoders = new Map([...reader.schemasById].map(([id, schema]) => [id, makeDecoder(schema)]));
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    assert.ok(message.logTime >= last, "messages come in order of log time");
    last = message.logTime;
    const channel = reader.channelsById.get(message.channelId);
    counts.set(message.channelId, (counts.get(message.channelId) ?? 0n) + 1n);
    messages.push({ topic: channel.topic, ...decoders.get(channel.schemaId)(message.data) });
  }
  const statistics = reader.statistics;
  assert.equal(statistics.messageCount, BigInt(expectedCount));
  assert.equal(statistics.chunkCount, reader.chunkIndexes.length);
  assert.equal(statistics.channelCount, reader.channelsById.size);
  assert.equal(statistics.schemaCount, reader.schemasById.size);
  assert.equal(statistics.attachmentCount, 1);
  assert.deepEqual(statistics.channelMessageCounts, counts);
  assert.equal(statistics.messageStartTime, 1_700_000_000_123_456_789n);
  assert.equal(statistics.messageEndTime, last);

  const metadata = new Map();
  for await (const record of reader.readMetadata()) metadata.set(record.name, record.metadata);
  assert.equal(statistics.metadataCount, metadata.size);
  assert.equal(metadata.get("rigcal").get("hinges"), "arm,pendulum");
  assert.equal(metadata.get("rigcal").get("seed"), "7");
  const attachments = [];
  for await (const record of reader.readAttachments({ startTime: 0n, endTime: 1n << 63n })) attachments.push(record);
  assert.equal(attachments.length, 1);
  assert.equal(Buffer.from(attachments[0].data).toString(), "t,u\n");
  await handle.close();
  return { messages, metadata };
}

// A sort that keeps messages of one topic in order, so that two orders across topics compare equal.
function byTopic(messages) {
  return [...messages].sort((a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : 0));
}

async function judge(name, expected) {
  compare(readStream(`${folder}/${name}`), expected, `${name}, read front to back`);
  const { messages, metadata } = await readIndexed(`${folder}/${name}`, expected.length);
  compare(byTopic(messages), byTopic(expected), `${name}, read through the index`);
  console.log(`${name}: ${expected.length} messages read twice, all as written`);
  return metadata;
}

async function copyWithOfficialWriter(source, destination) {
  const reader = new McapStreamReader();
  reader.append(readFileSync(source));
  const parts = [];
  let size = 0n;
  const writable = {
    position: () => size,
    write: async (bytes) => { parts.push(Buffer.from(bytes)); size += BigInt(bytes.byteLength); },
  };
  const writer = new McapWriter({ writable, chunkSize: 50_000 });
  await writer.start({ profile: "", library: "official" });
  const schemaIds = new Map(), channelIds = new Map();
  for (let record; (record = reader.nextRecord()); ) {
    if (record.type === "Schema" && !schemaIds.has(record.id)) {
      schemaIds.set(record.id, await writer.registerSchema(record));
    } else if (record.type === "Channel" && !channelIds.has(record.id)) {
      channelIds.set(record.id, await writer.registerChannel({ ...record, schemaId: schemaIds.get(record.schemaId) }));
    } else if (record.type === "Message") {
      await writer.addMessage({ ...record, channelId: channelIds.get(record.channelId) });
    } else if (record.type === "Metadata") {
      await writer.addMetadata(record);
    }
  }
  await writer.end();
  writeFileSync(destination, Buffer.concat(parts));
}

execFileSync(judgedRecording, ["write", folder], { stdio: "inherit" });
const expected = readExpected("expected.jsonl");
assert.ok(expected.length > 5900);
await judge("run.mcap", expected);
const recovered = readExpected("expected_recovered.jsonl");
assert.ok(recovered.length > 4500 && recovered.length < expected.length);
const metadata = await judge("recovered.mcap", recovered);
assert.ok(metadata.has("recovered"));

await copyWithOfficialWriter(`${folder}/run.mcap`, `${folder}/official.mcap`);
const output = execFileSync(judgedRecording, ["read", `${folder}/official.mcap`],
  { encoding: "utf8", maxBuffer: 1 << 28 });
compare(output.trim().split("\n").map((line) => JSON.parse(line)), expected, "official.mcap, read by us");
console.log(`official.mcap: ${expected.length} messages written by the official writer, read by us`);
