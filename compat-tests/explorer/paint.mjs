// Measures how long after a navigation the explorer first paints, and when its largest text is there, in tabs that no debugger watches; for docs/performance.md.
// It starts a Minibus of its own, without a file. A page of one heading tells what the browser itself takes on the machine. Cold is a browser without a
// cache, warm one that has been there.
//
//   node paint.mjs MINIBUS [VISITS]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [minibus, visits = 15] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "paint-"));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function until(what) {
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

const ports = join(folder, "ports");
const server = spawn(minibus, ["--ephemeral", "--host", "127.0.0.1", "--amqp-port", "0", "--tls-port", "0", "--http-port", "0", "--ports-file", ports], { stdio: "ignore" });
const heading = createServer((_, answer) => answer.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>A heading</title><h1>A heading</h1>")).listen(0, "127.0.0.1");
await once(heading, "listening");
const addresses = { heading: `http://localhost:${heading.address().port}/`, explorer: `http://localhost:${(await until(() => portsOf(ports))).http}/` };

async function measure(label, ...args) {
  const profile = join(folder, label);
  const browser = spawn(process.env.MINIBUS_CHROMIUM ?? "/usr/bin/chromium", ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--no-first-run",
    "--remote-debugging-port=0", "--window-size=1280,800", `--user-data-dir=${profile}`, ...args, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  browser.stderr.on("data", (piece) => (said += piece));
  const host = await until(() => /listening on ws:\/\/([^/]+)/.exec(said)?.[1]), all = { heading: [], explorer: [] };
  await pause(3000); // the browser starts processes that it keeps ready
  for (let i = 0; i <= visits; i++) {
    for (const [name, address] of Object.entries(addresses)) {
      const tab = await (await fetch(`http://${host}/json/new?${address}`, { method: "PUT" })).json();
      await pause(1200);
      const attached = await chromium.connectOverCDP(`http://${host}`);
      const page = attached.contexts()[0].pages().find((p) => p.url().startsWith(address));
      const times = await page.evaluate(() => new Promise((done) => new PerformanceObserver((list) => done({
        first: performance.getEntriesByName("first-contentful-paint")[0].startTime, largest: list.getEntries().at(-1).startTime,
      })).observe({ type: "largest-contentful-paint", buffered: true })));
      if (i > 0) all[name].push(times); // the first visit fills the cache
      await attached.close();
      await fetch(`http://${host}/json/close/${tab.id}`);
      await pause(300);
    }
  }
  browser.kill();
  await once(browser, "exit");
  for (const [name, times] of Object.entries(all)) {
    for (const kind of name === "explorer" ? ["first", "largest"] : ["first"]) {
      const list = times.map((t) => t[kind]).sort((a, b) => a - b);
      console.log(label, name.padEnd(8), `${kind} paint`.padEnd(13), `median ${Math.round(list[list.length >> 1])} ms, ${Math.round(list[0])} to ${Math.round(list.at(-1))}`);
    }
  }
}

await measure("cold", "--disk-cache-size=1");
await measure("warm");
server.kill();
heading.close();
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
