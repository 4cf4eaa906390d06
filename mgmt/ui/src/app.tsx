// The explorer: the frame around the screens.
import { render } from "preact";
import { useState } from "preact/hooks";
import { Asking } from "./asking";
import { asksForKey, forgetKey, hasKey, refusedConnection, useKey } from "./auth";
import { Boundary } from "./boundary";
import { ClockScreen } from "./clock";
import { Configuration } from "./configuration";
import { Connect } from "./connect";
import { Connections } from "./connections";
import { Create } from "./create";
import { EntityPage } from "./entity";
import { Events } from "./events";
import { span, time, zone } from "./format";
import { Faults } from "./faults";
import { Icon } from "./icons";
import { Jobs } from "./jobs";
import { Button, Empty, Problem } from "./kit";
import { Life } from "./life";
import { Namespaces } from "./namespaces";
import { Overview } from "./overview";
import { listenForKeys, openKeys, openPalette, Overlay } from "./palette";
import { link, route } from "./route";
import { Missing, menuOpen, Sidebar } from "./sidebar";
import { ResourceScreen } from "./resource";
import { Snapshots } from "./snapshots";
import { clock, missing, now, refresh, start, theme, trouble } from "./state";
import { textOf } from "./api";
import { docsPage } from "./docspage";
import { keepTitle } from "./title";
import { Toasts } from "./toasts";

function Screen() {
  const { screen, rest } = route.value;
  switch (screen) {
    case "":
      return <Overview />;
    case "entity":
      return <EntityPage path={rest[0] ?? ""} tab={rest[1] ?? ""} item={rest[2]} key={rest[0]} />;
    case "events":
      return <Events />;
    case "life":
      return <Life />;
    case "connections":
      return <Connections />;
    case "clock":
      return <ClockScreen />;
    case "jobs":
      return <Jobs />;
    case "new":
      return <Create />;
    case "configuration":
      return <Configuration />;
    case "faults":
      return <Faults />;
    case "snapshots":
      return <Snapshots />;
    case "namespaces":
      return <Namespaces />;
    case "connect":
      return <Connect />;
    case "resource":
      return <ResourceScreen />;
    default:
      return <><h1>Not found</h1><Empty title="There is no screen at this address."><p><a href={link("")}>Go to the overview</a></p></Empty></>;
  }
}

function KeyForm() {
  const [text, setText] = useState(refusedConnection), [wrong, setWrong] = useState(hasKey() ? "This key was refused. Check that the string is complete, and of the default namespace." : "");
  const submit = (e: Event) => {
    e.preventDefault();
    try {
      useKey(text);
      refresh();
    } catch (x) {
      setWrong(textOf(x));
    }
  };
  return (
    <main class="key-form">
      <form onSubmit={submit} class="panel">
        <h1>This Minibus needs a key</h1>
        <p>Paste a connection string of the default namespace with the <b>Manage</b> right. It never leaves this tab, which signs its requests with it.</p>
        <label class="field">
          <span class="field-label">Connection string</span>
          <textarea autofocus rows={4} value={text} spellcheck={false} aria-invalid={wrong ? true : undefined} onInput={(e) => { setText(e.currentTarget.value); setWrong(""); }}
            placeholder="Endpoint=sb://localhost:5672;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=…" />
          {wrong && <span class="wrong" role="alert">{wrong}</span>}
        </label>
        <Button kind="primary" type="submit" disabled={!text.trim()}>Open</Button>
      </form>
    </main>
  );
}

const logo = document.querySelector(".brand svg")!; // of the frame, which has it painted already

const icons = { system: "◐", light: "☀", dark: "☾" } as const;
const following = { system: "light", light: "dark", dark: "system" } as const;

function ClockChip() {
  const c = clock.value;
  if (!c) return null;
  const moved = c.offset !== 0 || c.frozen !== undefined;
  const frozen = c.frozen !== undefined, apart = (c.offset > 0 ? "+" : "−") + span(c.offset);
  const text = frozen ? "frozen" : moved ? apart : "";
  const title = `The clock of the namespace${moved ? `, ${apart} from this computer’s. A reset or a restored snapshot puts it back.` : ""}`;
  return <a class={`chip ${frozen ? "warn" : ""}`} href={link("clock")} title={title}>{time(now.value, now.value)}{zone.value === "utc" && " UTC"}{text && <b>{text}</b>}</a>;
}

function Header() {
  return (
    <header class="top">
      <button type="button" class="tool menu" aria-label="Menu" aria-expanded={menuOpen.value} onClick={() => (menuOpen.value = !menuOpen.value)}>☰</button>
      <a class="brand" href={link("")}><span class="logo" ref={(e) => e?.append(logo)} />Minibus</a>
      <button type="button" class="go-to" onClick={openPalette}><Icon name="life" /><span class="go-to-text">Go to a screen, an entity or a message…</span><kbd>Ctrl K</kbd></button>
      <ClockChip />
      <button type="button" class="tool" aria-label={`Times: ${zone.value}`} title="Times: local or UTC (u)" onClick={() => (zone.value = zone.value === "utc" ? "local" : "utc")}>{zone.value === "utc" ? "UTC" : "local"}</button>
      <button type="button" class="tool" aria-label={`Theme: ${theme.value}`} title={`Theme: ${theme.value}`} onClick={() => (theme.value = following[theme.value])}>{icons[theme.value]}</button>
      <a class="tool docs" href={docsPage()} target="_blank" title="Docs about this screen">Docs</a>
      <button type="button" class="tool" aria-label="Keys" title="Keys (?)" onClick={openKeys}>?</button>
      {hasKey() && <button type="button" class="tool" onClick={forgetKey}>Forget key</button>}
    </header>
  );
}

const broken = (text: string) => `This part of the explorer failed: ${text.replace(/[^.]$/, "$&.")} That is a bug in the explorer. The other screens still work.`;

function Broken({ text, again }: { text: string; again: () => void }) {
  return <><h1>This screen failed</h1><Problem text={broken(text)} retry={again}><a class="button small" href={link("")}>Go to the overview</a></Problem></>;
}

function App() {
  const here = JSON.stringify(route.value);
  if (asksForKey.value) return <><KeyForm /><Toasts /></>;
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
      <Header />
      <Sidebar />
      {menuOpen.value && <div class="shade" onClick={() => (menuOpen.value = false)} />}
      <main id="main" tabIndex={-1}>
        {trouble.value && <Problem text={trouble.value} retry={refresh} />}
        {missing.value ? <Missing /> : route.value.namespace && <Boundary at={here} instead={(text, again) => <Broken text={text} again={again} />}><Screen /></Boundary>}
      </main>
      <Toasts />
      <Asking />
      <Boundary at={here} instead={(text) => <div class="toasts"><Problem text={broken(text)} /></div>}><Overlay /></Boundary>
    </>
  );
}

start();
keepTitle();
listenForKeys();
const root = document.getElementById("app")!;
root.replaceChildren(); // the frame that is painted before this script is here
render(<App />, root);
