// test() of node:test with the behaviours of compat-tests/cases that a test proves:
//
//   test(NAME, proves(ID, ...), async () => { ... });
//
// They are noted once the test has passed, for docs/parity.md, where MINIBUS_PARITY names a directory.
import { appendFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test as plain } from "node:test";

const directory = process.env.MINIBUS_PARITY;
const file = `compat-tests/js/${basename(process.argv[1])}`;
const column = process.env.MINIBUS_COLUMN || "js";
const sdk = process.env.MINIBUS_SDK ?? "@azure/service-bus"; // another release of it has no column

export const proves = (...ids) => ids;

export function test(name, ids, body) {
  if (body === undefined) return plain(name, ids);
  return plain(name, async (t) => {
    await body(t);
    note(name, ids);
  });
}

function note(name, ids) {
  if (!directory || sdk !== "@azure/service-bus") return;
  const { version } = JSON.parse(readFileSync(new URL(`node_modules/${sdk}/package.json`, import.meta.url), "utf8"));
  for (const id of ids) appendFileSync(join(directory, `${column}.tsv`), `${[column, version, id, file, name].join("\t")}\n`);
}
