// Parses Bicep files with the published grammar and prints every place that it does not understand.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Language, Parser } from "web-tree-sitter";

const require = createRequire(import.meta.url);
await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(require.resolve("tree-sitter-bicep/tree-sitter-bicep.wasm")));

let wrong = 0;
for (const file of process.argv.slice(2)) {
  const tree = parser.parse(readFileSync(file, "utf8"));
  let resources = 0;
  const walk = (node) => {
    if (node.isError || node.isMissing) {
      wrong++;
      console.log(`${file}:${node.startPosition.row + 1}:${node.startPosition.column + 1}: ${node.text.slice(0, 80)}`);
    }
    if (node.type === "resource_declaration") resources++;
    for (const child of node.children) walk(child);
  };
  walk(tree.rootNode);
  console.log(`${file}: ${resources} resources`);
  if (resources === 0) wrong++;
}
process.exit(wrong ? 1 : 0);
