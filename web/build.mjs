// Builds the page's script and style into the Python package: two files under fixed names, the same bytes each time.
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
