// Measures how long after a navigation the explorer first paints, and when its largest text is there, in tabs that no debugger watches; for docs/performance.md.
// It starts a Minibus of its own, without a file. A page of one heading tells what the browser itself takes on the machine. Cold is a browser without a
// cache, warm one that has been there. Several builds are visited in turns, since other work on the machine makes all of them slower at the same time.
//
//   node paint.mjs MINIBUS... [VISITS]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { pause, start, until } from "./own.mjs";

const builds = process.argv.slice(2), visits = /^\d+$/.test(builds.at(-1)) ? Number(builds.pop()) : 15;
const servers = await Promise.all(builds.map((program) => start(program))), { folder } = servers[0];
const explorer = (i) => (builds.length === 1 ? "explorer" : `explorer ${i + 1}`);
const heading = createServer((_, answer) => answer.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>A heading</title><h1>A heading</h1>")).listen(0, "127.0.0.1");
await once(heading, "listening");
const addresses = Object.fromEntries([["heading", `http://localhost:${heading.address().port}/`], ...servers.map((s, i) => [explorer(i), `http://localhost:${s.ports.http}/`])]);

async function measure(label, ...args) {
  const profile = join(folder, label);
  const browser = spawn(process.env.MINIBUS_CHROMIUM ?? "/usr/bin/chromium-headless-shell", ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--no-first-run",
    "--remote-debugging-port=0", "--window-size=1280,800", `--user-data-dir=${profile}`, ...args, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  browser.stderr.on("data", (piece) => (said += piece));
  const host = await until(() => /listening on ws:\/\/([^/]+)/.exec(said)?.[1]), all = Object.fromEntries(Object.keys(addresses).map((name) => [name, []]));
  await pause(3000); // the browser starts processes that it keeps ready
  for (let i = 0; i <= visits; i++) {
    const turn = Object.entries(addresses);
    if (i % 2) turn.reverse();
    for (const [name, address] of turn) {
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
    for (const kind of name === "heading" ? ["first"] : ["first", "largest"]) {
      const list = times.map((t) => t[kind]).sort((a, b) => a - b);
      console.log(label, name.padEnd(10), `${kind} paint`.padEnd(13), `median ${Math.round(list[list.length >> 1])} ms, ${Math.round(list[0])} to ${Math.round(list.at(-1))}`);
    }
  }
}

await measure("cold", "--disk-cache-size=1");
await measure("warm");
heading.close();
for (const s of servers) s.stop();
