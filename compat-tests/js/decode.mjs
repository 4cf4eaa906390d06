// Decodes every server frame of a golden file with rhea's own codec: what Minibus sends, a foreign library must read.
// Usage: node decode.mjs FILE...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const frames = require("rhea/lib/frames.js");
const message = require("rhea/lib/message.js");
require("rhea/lib/terminus.js");
require("rhea/lib/sasl.js");

let decoded = 0;
for (const file of process.argv.slice(2)) {
  const parts = new Map(); // transfers of several frames, by connection and channel
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [who, connection, hex] = line.split(" ");
    if (who !== "S") continue;
    const bytes = Buffer.from(hex, "hex");
    if (bytes.subarray(0, 4).toString() === "AMQP") {
      frames.read_header(bytes);
      continue;
    }
    const frame = frames.read_frame(bytes);
    decoded++;
    if (!frame.payload) continue;
    const key = `${connection}/${frame.channel}/${frame.performative?.handle}`;
    const payload = Buffer.concat([parts.get(key) ?? Buffer.alloc(0), frame.payload]);
    if (frame.performative.more) {
      parts.set(key, payload);
      continue;
    }
    parts.delete(key);
    message.decode(payload);
  }
}
console.log(`${decoded} frames`);
if (decoded === 0) process.exit(1);
