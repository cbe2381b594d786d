// Builds the page's script and style into the Python package: two files under fixed names, the same bytes each time.
import fs from "node:fs";
import { build } from "vite";

await build({
  configFile: false,
  logLevel: "error",
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../src/railwright/report/page",
    emptyOutDir: false,
    target: "es2022",
    minify: true,
    lib: { entry: "src/main.tsx", formats: ["iife"], name: "report", fileName: () => "app.js", cssFileName: "app" },
  },
});

// Who wrote the part that is not ours; NOTICES.txt beside it has the licence.
const script = `${import.meta.dirname}/../src/railwright/report/page/app.js`;
const preact = JSON.parse(fs.readFileSync(`${import.meta.dirname}/node_modules/preact/package.json`, "utf8"));
fs.writeFileSync(script, `/*! contains Preact ${preact.version}, MIT licence, Jason Miller */\n${fs.readFileSync(script, "utf8")}`);
