// A Minibus that checks keys: the explorer asks for a connection string, and keeps it in the tab.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { check, launch, open } from "./page.mjs";
import { namespace } from "./house.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const ask = (page) => page.getByLabel("Connection string");

test("the explorer asks for a connection string", async () => {
  const page = await open(browser, { allowed: [401] }); // what makes it ask
  await ask(page).waitFor();
  await check(page, "the question");
  await ask(page).fill("nonsense");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("alert").filter({ hasText: "isn’t a connection string" }).waitFor();
  await ask(page).fill(process.env.MINIBUS_CONNECTION_STRING.replace(/SharedAccessKey=[^;]*/, "SharedAccessKey=wrong"));
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("alert").filter({ hasText: "This key was refused" }).waitFor();
  assert.match(await ask(page).inputValue(), /SharedAccessKey=wrong/); // to be corrected
  await ask(page).fill(process.env.MINIBUS_CONNECTION_STRING);
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("heading", { name: namespace }).waitFor();
  await page.getByText("orders").first().waitFor();
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("SharedAccessKey")), false);
  await page.reload();
  await page.getByRole("heading", { name: namespace }).waitFor();
  assert.deepEqual(page.errors, []);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await ask(other).waitFor();
  await page.getByRole("button", { name: "Forget key" }).click();
  await ask(page).waitFor();
  await page.context().close();
});
