// The same file where something is missing, and on paper: node states.mjs FILE
import puppeteer from "puppeteer-core";

const [file] = process.argv.slice(2), told = {};
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const shown = page => page.evaluate(() => document.body.innerText);
const opened = async prepare => { const page = await browser.newPage(); await prepare(page); await page.goto(`file://${file}`); await new Promise(done => setTimeout(done, 1200)); return page; };

const still = await opened(page => page.setJavaScriptEnabled(false));
told.scriptsOff = await shown(still);
const old = await opened(page => page.evaluateOnNewDocument(() => { delete window.DecompressionStream; }));
told.noStreams = await shown(old);
const paper = await opened(async () => {});
const pdf = Buffer.from(await paper.pdf({ format: "A4", printBackground: true }));
told.pages = (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? []).length;
await paper.emulateMediaType("print");
told.printed = await shown(paper);
process.stdout.write(JSON.stringify(told));
await browser.close();
