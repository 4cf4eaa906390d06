// A browser with the explorer, for the tests: it notes every error that the page makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const address = process.env.MINIBUS_EXPLORER ?? `http://localhost:${process.env.MINIBUS_PORT_HTTP}`;

// patience bounds, in milliseconds, each wait for what must come, on a busy machine too.
const patience = 60_000;

export async function launch(...args) {
  return chromium.launch({ timeout: patience, executablePath: process.env.MINIBUS_CHROMIUM ?? "/usr/bin/chromium-headless-shell", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", ...args] });
}

// sizes are those of a small laptop and a phone.
export const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

// open opens the explorer in a window of its own. Its errors are noted in page.errors, except for answers whose status is in page.allowed.
export async function open(browser, { theme = "light", size = "wide", path = "/", allowed = [], ...rest } = {}) {
  const context = await browser.newContext({ viewport: sizes[size], colorScheme: theme, reducedMotion: "reduce", locale: "en-GB", timezoneId: "Europe/Berlin", ...rest });
  context.setDefaultTimeout(patience);
  await context.addInitScript(keepToasts);
  const page = await context.newPage();
  page.errors = [];
  page.allowed = [...allowed];
  page.unanswered = new Set();
  page.on("request", (r) => page.unanswered.add(r));
  for (const end of ["requestfailed", "response"]) page.on(end, (x) => page.unanswered.delete(end === "response" ? x.request() : x));
  const asked = (text) => page.allowed.includes(Number(/the server responded with a status of (\d+)/.exec(text)?.[1]));
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && !asked(m.text()) && page.errors.push(`console: ${m.text()} (${m.location().url}:${m.location().lineNumber}:${m.location().columnNumber})`));
  page.on("pageerror", (e) => page.errors.push(`error: ${e.stack}`));
  page.on("requestfailed", (r) => r.failure()?.errorText !== "net::ERR_ABORTED" && page.errors.push(`failed: ${r.url()} ${r.failure()?.errorText}`));
  page.on("response", (r) => r.status() >= 400 && !page.allowed.includes(r.status()) && page.errors.push(`${r.status()} ${r.request().method()} ${r.url()}`));
  page.on("request", (r) => r.url().startsWith(address) || page.errors.push(`elsewhere: ${r.url()}`));
  await page.goto(address + path);
  return page;
}

// keepToasts runs in the page and keeps what its toasts say. They go after four seconds, in which a busy machine may not look.
function keepToasts() {
  window.saidByToasts = [];
  const note = (e) => window.saidByToasts.push(e.querySelector(".wrap").textContent.replace(/\s+/g, " ").trim());
  new MutationObserver((changes) => {
    for (const added of changes.flatMap((c) => [...c.addedNodes]).filter((n) => n instanceof Element)) {
      if (added.matches(".toast")) note(added);
      else added.querySelectorAll(".toast").forEach(note);
    }
  }).observe(document, { childList: true, subtree: true });
}

// told waits until a toast says a text. It forgets that one and those before it: the next time only a new one counts.
export async function told(page, text) {
  const { source, flags } = text instanceof RegExp ? text : { source: text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags: "" };
  await page.waitForFunction(({ source, flags }) => {
    const at = window.saidByToasts.findIndex((said) => new RegExp(source, flags).test(said));
    return window.saidByToasts.splice(0, at + 1).length > 0;
  }, { source, flags });
}

// chord presses keys without a pause: the page takes g and a letter, or Escape and Tab, as one within a second or two, in which a busy machine may not get to the second.
export const chord = (page, ...keys) => Promise.all(keys.map((k) => page.keyboard.press(k)));

// show goes to a screen by its address after #, and waits until the page has drawn it, though not for what the screen asks the server.
export async function show(page, hash) {
  await page.evaluate((h) => new Promise((drawn) => {
    const frame = () => requestAnimationFrame(() => setTimeout(drawn));
    const before = location.hash;
    location.hash = h;
    if (location.hash === before) frame();
    else addEventListener("hashchange", frame, { once: true });
  }), hash);
}

// settled waits until the page has an answer to all that it has asked, and has drawn it.
export async function settled(page) {
  await until(() => page.unanswered.size === 0, "the page has its answers");
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
}

// until waits until what is returned holds. A value that is read once may be that of a moment before.
export async function until(holds, what, time = patience) {
  for (const end = Date.now() + time; !(await holds()); await new Promise((done) => setTimeout(done, 50))) assert.ok(Date.now() < end, typeof what === "string" ? what : what());
}

// refused waits for the server's refusal that a test asked for, with the line that the browser writes of it, and takes both out of the page's errors.
export async function refused(page, status) {
  const answers = () => page.errors.filter((e) => e.startsWith(`${status} `)).length, lines = () => page.errors.filter((e) => e.includes(`status of ${status}`)).length;
  await until(() => answers() > 0 && lines() >= answers(), () => `no request was refused with ${status}, of the errors ${page.errors}`);
  page.errors = page.errors.filter((e) => !e.includes(`status of ${status}`) && !e.startsWith(`${status} `));
}

// copied presses what copies a text, and returns the text from the clipboard once the page says that it is there.
export async function copied(page, button) {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await button.click();
  await until(() => page.evaluate(async () => (await navigator.clipboard.readText()) !== ""), "nothing was copied");
  return page.evaluate(() => navigator.clipboard.readText());
}

// taken receives so many messages: one call may return fewer, if the others come a moment later.
export async function taken(receiver, n) {
  const list = [];
  while (list.length < n) {
    const more = await receiver.receiveMessages(n - list.length, { maxWaitTimeInMs: 20_000 });
    if (more.length === 0) break;
    list.push(...more);
  }
  return list;
}

// check fails if the page made an error, if it is wider than the window, or if axe-core finds anything. Axe comes
// past the policy of the page, through the protocol for developers.
export async function check(page, name) {
  assert.deepEqual(page.errors, [], name);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${name} is ${over} pixels wider than the window`);
  await accessible(page, name, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]);
}

// checkDark checks what the other theme changes of a screen that check has seen: the contrast.
export async function checkDark(page, name) {
  await page.emulateMedia({ colorScheme: "dark" });
  await accessible(page, name + ", dark", { type: "rule", values: ["color-contrast"] });
  assert.deepEqual(page.errors, [], name + ", dark");
  await page.emulateMedia({ colorScheme: "light" });
}

async function accessible(page, name, runOnly) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate((runOnly) => window.axe.run(document, { resultTypes: ["violations"], runOnly }), runOnly);
  const found = violations.map((v) => `${v.id}: ${v.help}\n` + v.nodes.slice(0, 4).map((n) => `  ${n.html.slice(0, 200)}\n  ${n.failureSummary}`).join("\n"));
  assert.equal(found.join("\n"), "", name);
}
