import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import type { Frame, Page } from 'playwright-core';
import { type AiService, startAiService, token } from '../../ai/support/ai-service.ts';
import { makePdf, makePdfOf, stream } from '../../ai/support/make-pdf.ts';
import { makeScannedPdf } from '../../ai/support/scan.ts';
import { until } from '../../support/processes.ts';
import { startReceiver } from '../../support/receiver.ts';
import { expectOk } from '../../support/requests.ts';
import { act } from './support/row-menu.ts';
import { pathOf, useConsole } from './support/use-console.ts';

/** Does what a PDF may ask of a viewer: runs a script, leads elsewhere, sends a form, and loads a font whose matrix is a script. */
const hostilePdf = makePdfOf({
  content: 'BT /F2 40 Tf 50 400 Td (mirrors) Tj ET',
  catalog: '/OpenAction << /S /JavaScript /JS (app.alert\\("hacked"\\); app.launchURL\\("https://attacker.example/", true\\);) >>',
  page: '/Annots [10 0 R] /AA << /O << /S /URI /URI (https://attacker.example/) >> >>',
  fonts: '/F2 11 0 R',
  objects: [
    '<< /Type /Annot /Subtype /Link /Rect [0 0 600 800] /A << /S /URI /URI (https://attacker.example/) >> >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /AAAAAA+Hacked /FontMatrix [0.001 0 0 0.001 0 (0\\); window.hacked = 1; alert\\(1)] /FontDescriptor 12 0 R >>',
    '<< /Type /FontDescriptor /FontName /AAAAAA+Hacked /Flags 4 /FontFile 13 0 R >>',
    stream('/Length1 1', '%!PS'),
  ],
});

const pixel = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';

describe('The original of a document in the console', () => {
  const { api, open, tenant } = useConsole({ WORKER_ENABLED: 'false' });
  const upload = async (name: string, contentType: string, bytes: string | Buffer) =>
    (await api.upload(tenant, { name, contentType, bytes })).id;
  const visit = (id: string, search = '') => open(pathOf(tenant, `documents/${id}${search}`), { as: tenant.owner });

  it('is a page of a PDF, loaded once it is asked for, at the page that is looked at', async () => {
    const id = await upload('two.pdf', 'application/pdf', makePdf('0 0 1 rg 0 0 600 800 re f', 2));
    const { page, complaints } = await visit(id);
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));
    await page.getByRole('button', { name: 'Show the original' }).waitFor();
    expect(asked.filter((url) => /original|uploads/.test(url))).to.deep.equal([]);
    await page.getByRole('button', { name: 'Show the original' }).click();
    const frame = await frameShowing(page, 1);
    expect(await frame.evaluate('[...document.getElementById("page").getContext("2d").getImageData(50, 50, 1, 1).data]')).to.deep.equal([
      0, 0, 255, 255,
    ]);
    await page.getByRole('button', { name: 'Next page' }).click();
    await frameShowing(page, 2);
    expect(new URL(page.url()).search).to.equal('?original=true&page=2');
    await page.reload();
    await frameShowing(page, 2);
    // Whoever turns pages faster than they are drawn sees the last one.
    const turn = `for (const page of [1, 2, 1]) document.querySelector('iframe').contentWindow.postMessage({ page, label: 'Page' }, '*')`;
    await page.evaluate(turn);
    await frameShowing(page, 1);
    // To one of many pages without turning each.
    for (const number of [1, 2]) {
      await page.getByRole('combobox', { name: 'Pages' }).selectOption(String(number));
      await frameShowing(page, number);
    }
    // A link of a version that had more pages leads to the last one.
    await page.goto(api.url + pathOf(tenant, `documents/${id}?original=true&page=9`));
    await frameShowing(page, 2);
    expect(await page.getByRole('combobox', { name: 'Pages' }).inputValue()).to.equal('2');
    await page.getByRole('button', { name: 'Hide the original' }).click();
    await page.locator('iframe').waitFor({ state: 'detached' });
    expect(complaints).to.deep.equal([]);
  });

  it('has its letters where the file brings no font along', async () => {
    const { page } = await visit(
      await upload('letters.pdf', 'application/pdf', makePdf('BT /F1 400 Tf 50 300 Td (M) Tj ET')),
      '?original=true',
    );
    const frame = await frameShowing(page, 1);
    const dark = 'document.getElementById("page").getContext("2d").getImageData(0, 0, 400, 500).data.filter((value) => value < 50).length';
    expect(await frame.evaluate(dark)).to.be.above(1_000);
  });

  it('of a hostile PDF runs nothing, leads nowhere, and reaches neither the session nor the API', async () => {
    const { page, complaints } = await visit(await upload('hostile.pdf', 'application/pdf', hostilePdf), '?original=true');
    const origins = new Set<string>();
    page.on('request', (request) => void (/^https?:/.test(request.url()) && origins.add(new URL(request.url()).origin)));
    page.on('dialog', (dialog) => void complaints.push(dialog.message()));
    page.on('popup', (popup) => void complaints.push(popup.url()));
    const frame = await frameShowing(page, 1);
    await page.locator('iframe').click();
    const attacker = await startReceiver();
    const address = page.url();
    // Whatever a file might make the frame do.
    const attempts = {
      session: 'return document.cookie',
      storage: 'return localStorage.length',
      page: 'return parent.document.title',
      script: `document.body.append(Object.assign(document.createElement('script'), { text: 'window.hacked = 1' })); if (!window.hacked) throw 1`,
      api: `return fetch('${api.url}/api/v1/health')`,
      elsewhere: `return fetch('${attacker.url}', { mode: 'no-cors' })`,
      picture: `return new Promise((resolve, reject) => Object.assign(new Image(), { onload: resolve, onerror: reject, src: '${pixel}' }))`,
      // Last: it would take the others with it.
      navigation: `top.location = 'https://attacker.example/'`,
    };
    const results: Record<string, unknown> = {};
    for (const [name, attempt] of Object.entries(attempts)) results[name] = await failureOf(frame, attempt);
    expect(results).to.deep.equal(Object.fromEntries(Object.keys(attempts).map((name) => [name, 'refused'])));
    await frame.evaluate(
      "document.body.append(Object.assign(document.createElement('form'), { action: 'https://attacker.example/' })); document.forms[0].submit()",
    );
    await until(async () => complaints.some((each) => /Blocked form submission/.test(each)));
    expect(await frame.evaluate('[window.hacked, origin, open("https://attacker.example/")]')).to.deep.equal([undefined, 'null', null]);
    expect([page.url(), await page.evaluate('window.hacked')]).to.deep.equal([address, undefined]);
    expect([...origins]).to.deep.equal([api.url]);
    expect(attacker.received).to.deep.equal([]);
    await attacker.stop();
    expect(complaints.filter((each) => !/Content Security Policy|Refused|Blocked|sandbox|Unsafe attempt/i.test(each))).to.deep.equal([]);
  });

  it('says that a file cannot be shown, or was not sent, and leaves the download', async () => {
    const id = await upload('broken.pdf', 'application/pdf', 'no PDF at all');
    const { page } = await visit(id, '?original=true');
    await page.getByText('This file cannot be shown: it is broken, or needs a password.').waitFor();
    await page.route('**/uploads/**', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').getByText('The store did not send the file to this page.').waitFor();
    expect(await page.getByRole('button', { name: 'Download' }).isEnabled()).to.equal(true);
  });

  it('is a picture, and of other kinds only the download', async () => {
    const bytes = readFileSync('docs/examples/samples/trail-notice.png');
    const { page, complaints } = await visit(await upload('notice.png', 'image/png', bytes));
    await page.getByRole('button', { name: 'Show the original' }).click();
    await until(async () => (await page.evaluate('document.querySelector(".marked-picture > img")?.naturalWidth ?? 0')) !== 0);
    expect(complaints).to.deep.equal([]);
    await page.goto(api.url + pathOf(tenant, `documents/${await upload('page.html', 'text/html', '<h1>Mirrors</h1>')}?original=true`));
    await page.getByRole('button', { name: 'Download' }).waitFor();
    expect(
      await page
        .locator('main :is(iframe, img)')
        .or(page.getByRole('button', { name: /the original/ }))
        .count(),
    ).to.equal(0);
  });

  it('is drawn in a frame that has no origin even if it is opened alone', async () => {
    const answer = await fetch(`${api.url}/original.html`);
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).to.match(/^sandbox allow-scripts; default-src 'none'; .*frame-ancestors 'self'$/);
    const { page } = await open('/original.html', { as: tenant.owner });
    expect(await page.evaluate('origin')).to.equal('null');
  });
});

/** The frame of the page, once it has drawn this page of the PDF. */
async function frameShowing(page: Page, number: number): Promise<Frame> {
  const find = () => page.frames().find((frame) => frame.url().endsWith('/original.html'));
  await until(
    async () =>
      (await find()
        ?.evaluate('document.getElementById("page")?.dataset.shown')
        .catch(() => undefined)) === String(number),
  );
  return find() as Frame;
}

/** `refused` if a script fails in the frame, else what it returned, as a text. */
async function failureOf(frame: Frame, script: string): Promise<unknown> {
  return await frame.evaluate(`(async () => { ${script} })().then(String)`).catch(() => 'refused');
}

describe('A passage in the original of a document', () => {
  let ai: AiService;
  const { api, open, tenant } = useConsole(async () => {
    ai = await startAiService({ OCR_PROVIDER: 'local', OCR_SCANNED_PDF: 'true', MAX_TEXT_CHARACTERS: '2000' });
    return { AI_SERVICE_URL: ai.url, SERVICE_TOKEN: token };
  });
  after(() => ai.stop());
  /** The bounds of what is marked on the page: left, right, top and bottom, as shares of it. */
  const yellow = `(() => {
    const { data, width, height } = document.getElementById('page').getContext('2d').getImageData(0, 0, page.width, page.height);
    const found = [];
    for (let at = 0; at < data.length; at += 4) if (data[at] > 220 && data[at + 2] < 120) found.push([(at / 4) % width / width, Math.floor(at / 4 / width) / height]);
    const range = (index) => [found.reduce((least, one) => Math.min(least, one[index]), 1), found.reduce((most, one) => Math.max(most, one[index]), 0)];
    return [...range(0), ...range(1)];
  })()`;

  it('is marked where the file has it, the second time if that is meant', async () => {
    const lines = [700, 500, 300].map((y) => `BT /F1 20 Tf 50 ${y} Td (The dome opens at dusk.) Tj ET`);
    const bytes = makePdf(lines.join('\n'));
    const { id } = await api.upload(tenant, { name: 'dome.pdf', contentType: 'application/pdf', bytes });
    const as = { token: tenant.owner.token };
    const extract = { kind: 'document.extract', documentId: id };
    await api.jobIn(as.token, (await expectOk(api.request('POST', '/api/v1/jobs', { ...as, body: extract }))).body.id, ['succeeded']);
    const { body } = await expectOk(api.request('GET', `/api/v1/documents/${id}/text`, as));
    const start = body.text.indexOf('dome', body.text.indexOf('dome') + 1);
    const search = `?original=true&page=1&start=${start}&end=${start + 'dome opens'.length}`;
    const { page, complaints } = await open(pathOf(tenant, `documents/${id}${search}`), { as: tenant.owner });

    const frame = await frameShowing(page, 1);
    const [left, right, top, bottom] = (await frame.evaluate(yellow)) as [number, number, number, number];
    // The page is 600 by 800 points: the second line stands at 500, and the words begin behind "The ".
    expect(left * 600).to.be.within(80, 100);
    expect(right * 600).to.be.within(180, 205);
    expect(800 - bottom * 800).to.be.within(490, 500);
    expect(800 - top * 800).to.be.within(510, 525);
    expect(complaints).to.deep.equal([]);
  });

  it('is on a page of which no text is kept, and that is said', async () => {
    const pdf = new PDFDocument();
    for (const each of [1, 2, 3])
      for (let line = 0; line < 30; line += 1) pdf.text(`${each * 30 + line}: the mirrors of the large dome were washed at dusk.`);
    pdf.addPage().text('The end.');
    const { id } = await api.upload(tenant, { name: 'long.pdf', contentType: 'application/pdf', bytes: await bytesOf(pdf) });
    const { token } = tenant.owner;
    const body = { kind: 'document.extract', documentId: id };
    await api.jobIn(token, (await expectOk(api.request('POST', '/api/v1/jobs', { token, body }))).body.id, ['succeeded']);
    const { page } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner });
    await page.getByText(/^The text was cut after 2000 characters, on page 1 of \d/).waitFor();
    const pages = await page.getByRole('combobox', { name: 'Pages' }).locator('option').count();
    await page.getByRole('combobox', { name: 'Pages' }).selectOption(String(pages));
    await page.getByRole('region', { name: 'Text' }).getByText('The document has more text than is kept.').waitFor();
    expect(await page.getByText('There is no text on this page.').count()).to.equal(0);
  });

  it('is looked for in the new version once that has taken its place', async () => {
    const pdfOf = (color: string, says: string) =>
      makePdf(`${color} rg 0 0 600 100 re f 0 g BT /F1 20 Tf 50 700 Td (The dome opens at ${says}.) Tj ET`);
    const contentType = 'application/pdf';
    const { id } = await api.upload(tenant, { name: 'dome.pdf', contentType, bytes: pdfOf('0 0 1', 'dusk') });
    const { token } = tenant.owner;
    const body = { kind: 'document.extract', documentId: id };
    await api.jobIn(token, (await expectOk(api.request('POST', '/api/v1/jobs', { token, body }))).body.id, ['succeeded']);
    const { page } = await open(pathOf(tenant, `documents/${id}?original=true`), { as: tenant.owner });
    const color = `[...page.getContext('2d').getImageData(50, page.height - 20, 1, 1).data].join()`;
    expect(await (await frameShowing(page, 1)).evaluate(color)).to.equal('0,0,255,255');
    const chosen = page.waitForEvent('filechooser');
    await act(page, 'dome.pdf', 'Upload a new version');
    await (await chosen).setFiles({ name: 'dome.pdf', mimeType: contentType, buffer: Buffer.from(pdfOf('1 0 0', 'nine')) });
    await page.getByText('The dome opens at nine.').waitFor();
    await until(async () => (await (await frameShowing(page, 1)).evaluate(color).catch(() => '')) === '255,0,0,255');
  });

  it('is marked where text recognition has read it: on a scan, and on a picture', async () => {
    const extract = async (name: string, contentType: string, bytes: Buffer) => {
      const { id } = await api.upload(tenant, { name, contentType, bytes });
      const as = { token: tenant.owner.token };
      const body = { kind: 'document.extract', documentId: id };
      await api.jobIn(as.token, (await expectOk(api.request('POST', '/api/v1/jobs', { ...as, body }))).body.id, ['succeeded']);
      const { text, page } = (await expectOk(api.request('GET', `/api/v1/documents/${id}/text?page=1`, as))).body;
      const line = page.lines.find(({ start, end }: any) => /bridge/.test(text.slice(start, end)));
      const search = `?original=true&page=1&start=${line.start + 1}&end=${line.end}`;
      return { line, ...(await open(pathOf(tenant, `documents/${id}${search}`), { as: tenant.owner })) };
    };
    const png = readFileSync('docs/examples/samples/trail-notice.png');
    const { page, line, complaints } = await extract('notice.png', 'image/png', png);
    const picture = await page.locator('.marked-picture > img').boundingBox();
    const mark = await page.locator('.marked-picture > mark').boundingBox();
    if (!picture || !mark) throw new Error('There is no mark.');
    expect((mark.y - picture.y) / picture.height).to.be.closeTo(line.top, 0.01);
    expect(mark.width / picture.width).to.be.closeTo(line.width, 0.01);

    // A tall picture scrolls in its box.
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.reload();
    await page.locator('.marked-picture > mark').waitFor();
    const box =
      '(() => { const { scrollTop, clientHeight, scrollHeight } = document.querySelector("div.original"); return [scrollTop, clientHeight, scrollHeight]; })()';
    await until(async () => {
      const [at, high, whole] = (await page.evaluate(box)) as [number, number, number];
      return whole > high && Math.abs(at - Math.min(whole - high, Math.max(0, line.top * whole - high / 2))) < 2;
    });

    const scan = await extract('notice.pdf', 'application/pdf', await makeScannedPdf([{ scan: ['Notice', '', 'The bridge is closed.'] }]));
    const [left, , top, bottom] = (await (await frameShowing(scan.page, 1)).evaluate(yellow)) as [number, number, number, number];
    for (const [seen, said] of [
      [left, scan.line.left],
      [top, scan.line.top],
      [bottom, scan.line.top + scan.line.height],
    ])
      expect(seen).to.be.closeTo(said, 0.02);
    expect([...complaints, ...scan.complaints]).to.deep.equal([]);
  });
});

async function bytesOf(pdf: PDFKit.PDFDocument): Promise<Buffer> {
  pdf.end();
  return await buffer(pdf);
}
