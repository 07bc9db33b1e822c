import { readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Locked {
  integrity?: string;
  link?: boolean;
}

describe('package-lock.json', () => {
  it('holds the hash of every package that npm may install', () => {
    const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
    expect(installed).to.have.length.above(500);
    expect(installed.filter(([, { integrity }]) => !integrity).map(([path]) => path)).to.deep.equal([]);
  });
});
