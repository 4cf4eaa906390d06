// Starts the explorer once the browser has painted the frame of the page, which needs nothing but the page itself. A hidden page is not painted.
const add = (rel, href) => {
  const link = document.createElement("link");
  [link.rel, link.href] = [rel, href];
  document.head.append(link);
  return link;
};
const start = () => {
  add("modulepreload", "/$minibus/ui/app.js"); // both at once
  const style = add("stylesheet", "/$minibus/ui/app.css");
  style.onload = style.onerror = () => import("./app.js");
};
if (document.hidden) start();
else requestAnimationFrame(() => setTimeout(start));
