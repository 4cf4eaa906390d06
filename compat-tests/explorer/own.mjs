// A Minibus of one's own, for the scripts that no Go test starts.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export async function until(what) {
  for (;; await pause(50)) {
    const value = await what();
    if (value) return value;
  }
}

function portsOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined; // not written yet
  }
}

// start runs a program of Minibus, without a file of messages and on free ports. It returns these, a folder for what else is needed, and what ends both.
export async function start(program, ...args) {
  const folder = mkdtempSync(join(tmpdir(), "minibus-")), file = join(folder, "ports");
  const server = spawn(program, ["--ephemeral", "--host", "127.0.0.1", "--amqp-port", "0", "--tls-port", "0", "--http-port", "0", "--ports-file", file, ...args], { stdio: "ignore" });
  let ended = false;
  server.on("exit", () => (ended = true));
  const ports = await until(() => {
    if (ended) throw new Error(`${program} ended before it was ready`);
    return portsOf(file);
  });
  return { ports, folder, stop: () => {
    server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } };
}
