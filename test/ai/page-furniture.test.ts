import { expect } from 'chai';
import { read, textOf } from './support/read.ts';

const html = (page: string) => textOf(page, 'text/html');
const prose = 'A paragraph that says what the page is for, with more than a few words in it. '.repeat(4).trim();

describe('What every page of a site has', () => {
  const menu = '<nav><a href="/">Home</a><h2>Menu</h2></nav>';
  const furniture = (text: string) => `<!doctype html><title>Ferries</title><body>${menu}<header><p>The ferry company</p></header>${text}
<aside><h2>Related</h2><p>Other pages</p></aside><footer><p>Imprint</p></footer>
<div id="onetrust-consent-sdk"><p>We value your privacy</p></div><div class="site-cookie-banner big">Accept all</div></body>`;

  it('is left out: headers, footers, menus, sidebars, and banners that ask for consent', async () => {
    expect(await html(furniture(`<h1>Fares</h1><p>${prose}</p>`))).to.equal(`Ferries\n\nFares\n\n${prose}`);
  });

  it('is left out around what the page marks as its main part, or as its articles', async () => {
    const beside = '<div class="teasers"><p>Read this, too</p></div>';
    expect(await html(furniture(`${beside}<main><h1>Fares</h1><p>${prose}</p></main>`))).to.equal(`Ferries\n\nFares\n\n${prose}`);
    expect(await html(furniture(`${beside}<div role="main"><h1>Fares</h1><p>${prose}</p></div>`))).to.equal(`Ferries\n\nFares\n\n${prose}`);
    const articles = `<article><h2>One</h2><p>${prose}</p></article>${beside}<article><h2>Two</h2><p>${prose}</p></article>`;
    expect(await html(furniture(articles))).to.equal(`Ferries\n\nOne\n\n${prose}\n\nTwo\n\n${prose}`);
  });

  it('is kept within the main part: its header, its notes, its footer', async () => {
    const text = `<main><article><header><h1>Fares</h1></header><p>${prose}</p><aside>A note</aside><footer>Written in May</footer></article></main>`;
    expect(await html(furniture(text))).to.equal(`Ferries\n\nFares\n\n${prose}\n\nA note\nWritten in May`);
  });

  it('is kept if next to nothing would be left, and so is the title in a header', async () => {
    expect(await html(`<body><header><h1>All there is</h1><p>${prose}</p></header></body>`)).to.equal(`All there is\n\n${prose}`);
    expect(await html(`<body><header><p>Company</p><h1>Fares</h1></header><p>${prose}</p></body>`)).to.equal(`Fares\n\n${prose}`);
  });

  it('is not a small main part, a recipe for cookie bars, or a page about consent', async () => {
    expect(await html(`<body><main>Loading</main><p>${prose}</p></body>`)).to.equal(`Loading\n\n${prose}`);
    for (const name of ['cookie-bars', 'consent-form', 'trusted', 'informed-consent', 'cookies'])
      expect(await html(`<body><p>${prose}</p><div class="${name}">Kept</div></body>`), name).to.equal(`${prose}\n\nKept`);
  });

  it('ends where the tag begins that ends it: what is hidden, what is the main part', async () => {
    const pages = {
      '<p>First</p><p hidden>Secret<p class="lead" data-x="1">Text': 'First\n\nText',
      '<ul><li aria-hidden=true>Secret<li class="b">Text</ul>': ' * Text',
      '<div><p hidden>Secret</div><p>Text': 'Text',
      '<p>One<br hidden>two<img hidden alt="Secret"> three': 'One two three',
      '<p>Text<p hidden>Secret': 'Text',
      '<nav>Menu</nav><main><p>Text to the very last word': 'Text to the very last word',
      '<nav>Menu</nav><article><p>Text to the last word</article><p>Menu': 'Text to the last word',
    };
    for (const [page, expected] of Object.entries(pages)) expect(await html(`<body>${page}`), page).to.equal(expected);
  });

  it('is no section about consent, no heading of one, and no article with such a tag', async () => {
    const policy = `<h2 id="cookie-consent">Cookie consent</h2><p>${prose}</p><section id="cookie-notice"><p>A cookie lasts a year.</p></section>`;
    const expected = `Cookie consent\n\n${prose}\n\nA cookie lasts a year.`;
    for (const page of [
      `<main>${policy}</main>`,
      `<div role="main">${policy}</div>`,
      `<article class="tag-cookie-consent">${policy}</article>`,
    ])
      expect(await html(`<body>${page}</body>`), page).to.equal(expected);
    expect(await html(`<body><h2 id="cookie-consent">Cookie consent</h2><p>${prose}</p></body>`)).to.equal(`Cookie consent\n\n${prose}`);
    const banner = `<section class="cookie-banner"><h2>We value your privacy</h2></section>`;
    expect(await html(`<body><section><p>${prose}</p>${banner}</section></body>`)).to.equal(prose);
  });

  it('leaves headings at their places', async () => {
    const { text, outline } = await read(furniture(`<h1>Fares</h1><p>${prose}</p><h2>Bicycles</h2><p>Free.</p>`), 'text/html');
    expect(outline.headings.map(({ title, start }) => [title, text.slice(start).startsWith(title)])).to.deep.equal([
      ['Fares', true],
      ['Bicycles', true],
    ]);
  });

  it('is found in time, however the page is broken', async () => {
    for (const page of [
      '<aside>x</aside><article>y</article>'.repeat(30_000),
      '<header>'.repeat(250) + '</p></x>'.repeat(100_000),
      '<article><aside></article>text'.repeat(30_000),
      `<div class="${'cookie-'.repeat(100_000)}">text</div>`,
      '<main>'.repeat(200) + 'text'.repeat(50_000),
    ])
      expect((await read(page, 'text/html')).text).to.be.a('string');
  });

  it('is kept in mails', async () => {
    const page = `<body><header>Dear reader</header><p>${prose}</p><footer>Yours, the keeper</footer></body>`;
    const mail = `From: a@example.com\r\nSubject: Hello\r\nContent-Type: text/html\r\n\r\n${page}`;
    expect(await textOf(mail, 'message/rfc822'))
      .to.include('Dear reader')
      .and.to.include('Yours, the keeper');
  });
});
