import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

/** Text between tags, and attributes that people read, in a component. */
function findSentences(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const texts = [...code.matchAll(/(?<!=)>\s*([A-Z][\w'’ ,.?!…-]*)\s*<\//g)].map(([, text = '']) => text);
  const attributes = [...code.matchAll(/\b(?:aria-label|label|title|placeholder|description|alt)="([^"]+)"/g)].map(([, text = '']) => text);
  return [...texts, ...attributes];
}

type Messages = Record<string, object>;

/** The types of the console are checked on their own. */
async function readMessages(language: string): Promise<Messages> {
  return (await import(String(new URL(`../../../clients/web/src/messages/${language}.ts`, import.meta.url))))[language];
}

/** `documents.used a`: each sentence by its name, with what it is given, as far as it says that. */
function partsOf(messages: object, path = ''): string[] {
  return Object.entries(messages).flatMap(([name, value]) => {
    if (typeof value === 'object') return partsOf(value, `${path}${name}.`);
    if (typeof value === 'string') return [path + name];
    const given = ['⟨a⟩', '⟨b⟩', '⟨c⟩'].slice(0, value.length);
    return [[path + name, ...given.filter((each) => value(...given).includes(each))].join(' ')];
  });
}

describe('The sentences of the console', () => {
  it('are in the file of messages, and in no component', () => {
    const files = globSync('clients/web/src/**/*.tsx');
    expect(files).to.have.length.above(10);
    for (const file of files) expect(findSentences(readFileSync(file, 'utf8')), file).to.deep.equal([]);
  });

  it('are all said somewhere', async () => {
    const en = await readMessages('en');
    const code = globSync('clients/web/src/**/*.{ts,tsx}').map((file) => readFileSync(file, 'utf8'));
    const isSaid = (group: string, name: string) =>
      code.some((each) => each.includes(`t.${group}.${name}`) || each.includes(`t.${group}[`));
    const names = Object.entries<object>(en).flatMap(([group, sentences]) => Object.keys(sentences).map((name) => [group, name] as const));
    expect(names).to.have.length.above(100);
    expect(names.filter(([group, name]) => !isSaid(group, name))).to.deep.equal([]);
  });

  it('are there in German, with the same parts', async () => {
    const [en, de] = [await readMessages('en'), await readMessages('de')];
    expect(partsOf(de)).to.deep.equal(partsOf(en));
  });
});
