// What a web page can try. `plan` says against whom; every try becomes a line of the report: what, method, path, outcome.
const report = [];
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// attempt gives a try half a minute, on a busy machine, or less if it may end without a word.
async function attempt(what, method, path, tries, most = 30000) {
  let outcome;
  try {
    outcome = String(await Promise.race([tries(), pause(most).then(() => "nothing")]));
  } catch (e) {
    outcome = e.name === "TypeError" ? "blocked" : String(e);
  }
  report.push({ what, method, path, outcome });
}

// fetches tries a request of a script: with everything it may set, and as simple as a form's.
async function fetches(method, path) {
  const body = ["GET", "HEAD"].includes(method) ? undefined : "<script>1</script>";
  const send = (more) => fetch(plan.target + path, { method, body, cache: "no-store", ...more });
  const read = (r) => r.type === "opaque" ? "opaque" : r.text().then((text) => (text.includes("secret") ? "READ " : "") + r.status);
  await attempt("fetch", method, path, () => send({ credentials: "include" }).then(read));
  await attempt("disguised fetch", method, path, () =>
    send({ referrerPolicy: "no-referrer", headers: { "User-Agent": "curl/8.5.0", "Accept-Language": "*", Accept: "*/*" } }).then(read));
  if (["GET", "HEAD", "POST"].includes(method)) {
    await attempt("simple fetch", method, path, () => send({ mode: "no-cors", referrerPolicy: "no-referrer" }).then(read));
  }
}

// elements lets the browser load a path as part of the page.
async function elements(path) {
  for (const [tag, attribute] of [["img", "src"], ["script", "src"], ["link", "href"], ["iframe", "src"], ["object", "data"]]) {
    const e = document.createElement(tag);
    await attempt(tag, "GET", path, () => new Promise((done) => {
      e.onload = () => done("loaded");
      e.onerror = () => done("blocked");
      if (tag === "link") e.rel = "stylesheet";
      e[attribute] = plan.target + path;
      document.body.append(e);
    }), 3000); // a frame says nothing of a download
    e.remove();
  }
}

// opens submits a form to a window of its own, or to a frame, and waits until that shows the answer.
async function opens(method, path, type) {
  const form = document.createElement("form");
  Object.assign(form, { method, action: plan.target + path, enctype: "text/plain", target: "w" + Math.random() });
  form.innerHTML = "<input name='<script>1//' value='</script>'>";
  document.body.append(form);
  await attempt("form in a frame", method, path, async () => {
    const frame = document.createElement("iframe");
    frame.name = form.target;
    document.body.append(frame);
    await pause(20);
    const loaded = new Promise((done) => { frame.onload = done; });
    form.submit();
    await loaded;
    frame.remove();
    return "loaded";
  });
  form.target += "x";
  await attempt("form in a window", method, path, async () => {
    const w = window.open("about:blank", form.target);
    if (!w) return "no window";
    form.submit();
    for (let shown = false; !shown; await pause(20)) {
      try {
        shown = w.location.href !== "about:blank";
      } catch {
        shown = true; // another origin's by now
      }
    }
    await pause(plan.linger);
    w.close();
    return "shown";
  });
  form.remove();
}

function connects(path) {
  return attempt("WebSocket", "GET", path, () => new Promise((done) => {
    const w = new WebSocket(plan.target.replace("http", "ws") + path, ["AMQPWSB10"]);
    w.onopen = () => { w.close(); done("OPEN"); };
    w.onerror = () => done("blocked");
  }));
}

async function run() {
  for (const { path, methods } of plan.routes) {
    for (const method of methods) await fetches(method, path);
    await attempt("beacon", "POST", path, () => navigator.sendBeacon(plan.target + path, "<script>1</script>"));
    if (path === plan.webSocket) await connects(path); // once: a browser delays a page whose connections fail
    if (plan.elements) await elements(path);
  }
  for (const { method, path } of plan.forms) await opens(method, path);
  await pause(plan.linger); // for beacons, and for scripts that must not run
}

run().catch((e) => report.push({ what: "page", outcome: String(e) }))
  .finally(() => fetch(plan.report, { method: "POST", mode: "no-cors", body: JSON.stringify(report) }));
