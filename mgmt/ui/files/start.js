// Starts the explorer once the browser has painted the frame of the page, which is there at once. A hidden page is not painted.
const start = () => import("./app.js");
if (document.hidden) start();
else requestAnimationFrame(() => setTimeout(start));
