import { readFileSync } from 'node:fs';

/** The code of the README's section that is to be pasted, for a service at an address. */
export function curlLines(url: string): string {
  const [section = ''] = /^## With curl$.*?(?=^## )/ms.exec(readFileSync('README.md', 'utf8')) ?? [];
  const code = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('');
  return code.replace('http://localhost:3000', url);
}
