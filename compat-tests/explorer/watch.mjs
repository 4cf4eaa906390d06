// Keeps the explorer open on a screen, as a person does who watches a queue, until the input ends; for compat-tests/bench/features.sh.
//
//   node watch.mjs ADDRESS '#/screen'
import { chromium } from "playwright-core";

const [address, screen = ""] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.MINIBUS_CHROMIUM ?? "/usr/bin/chromium-headless-shell", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
let errors = 0;
page.on("pageerror", (e) => (errors++, console.error(e.stack)));
await page.goto(address + "/" + screen);
await page.waitForSelector("main h1");
console.log("open");
process.stdin.resume();
await new Promise((ended) => process.stdin.on("close", ended));
await browser.close();
process.exit(errors ? 1 : 0);
