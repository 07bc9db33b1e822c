import { expect } from 'chai';
import { lexer, type Token } from 'marked';
import { escapeMarkdown } from '../../api/chat/escape-markdown.ts';

const hostile = [
  '![s](https:\\/\\/host/SECRET)',
  '![s](https://host/SECRET)',
  '[a](/&sol;host/x)',
  '[a](https:/host/x)',
  '[a]: https://host/x\n\n[a] and ![a]',
  '<https://host/x> and <a@host.example>',
  'See https://host.example/x, www.host.example or ada@host.example.',
  'http://a.example\\',
  '<img src="https://host/x">',
  '# Heading\n- item\n1. one\n> quote\n===\n---\n| a | b |\n|---|---|\n`code` *a* _b_ ~~c~~ &amp; \\*',
  '    code',
];

function kindsOf(tokens: Token[]): string[] {
  return tokens.flatMap((token) => [token.type, ...kindsOf(('tokens' in token && token.tokens) || [])]);
}

/** What a reader sees, without what nobody sees. */
function shown(tokens: Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? shown(token.tokens) : 'text' in token ? token.text : token.raw))
    .join('');
}

describe('Text of documents in a chat', () => {
  it('is nothing but text for Markdown, and reads as it stands', () => {
    for (const text of hostile) {
      const tokens = lexer(escapeMarkdown(text), { gfm: true });
      const kinds = kindsOf(tokens).filter((kind) => !['paragraph', 'text', 'escape', 'space', 'br'].includes(kind));
      expect(kinds, text).to.deep.equal([]);
      const read = shown(tokens).replaceAll('\u2060', '').replace(/\s+/g, '');
      expect(read, text).to.equal(text.replace(/\s+/g, ''));
    }
  });
});
