// The page of the docs about the screen that is open.
import { route } from "./route";

const pages: Record<string, string> = {
  events: "history", life: "history", connections: "connections", clock: "clock", jobs: "jobs", configuration: "configuration", faults: "faults", snapshots: "snapshots",
  connect: "connect", resource: "infrastructure-as-code", new: "entities", export: "export", test: "rule-tests",
};
const tabPages: Record<string, string> = { messages: "messages", dead: "jobs", sessions: "jobs", send: "messages", receive: "messages", history: "history", why: "connections", settings: "entities", rules: "rule-tests", test: "rule-tests" };

// docsPage is its address. Minibus serves the docs itself, so it needs no network.
export function docsPage(): string {
  const { screen, rest } = route.value;
  return "/$minibus/docs/" + ((screen === "entity" ? tabPages[rest[1] ?? ""] : pages[screen]) ?? "explorer");
}
