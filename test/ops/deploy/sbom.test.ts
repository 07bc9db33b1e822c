import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runProgram } from '../../support/processes.ts';

interface LockedPackage {
  version: string;
  dev?: boolean;
  /** It is a folder of this repository. */
  link?: boolean;
}

interface Component {
  purl: string;
  properties?: { name: string; value: string }[];
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const isForDevelopers = ({ properties = [] }: Component) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
const listed = (components: Component[]) => components.map(({ purl }) => decodeURIComponent(purl).replace(/\?.*/, ''));

/** The locked packages for which something holds, as an SBOM names them. */
function locked(holds: (entry: LockedPackage) => boolean): string[] {
  const entries = Object.entries(packages).filter(([path, entry]) => path.includes('node_modules/') && !entry.link && holds(entry));
  return entries.map(([path, { version }]) => `pkg:npm/${path.split('node_modules/').at(-1)}@${version}`);
}

describe('npm run sbom', () => {
  it('lists every package that runs in production, and marks those that only developers need', async () => {
    const program = runProgram('npm', ['run', '--silent', 'sbom']);
    expect((await program.exited).code, program.stderr()).to.equal(0);
    const { bomFormat, metadata, components } = JSON.parse(program.stdout());
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect([bomFormat, metadata.component.purl]).to.deep.equal(['CycloneDX', `pkg:npm/sheaf@${version}`]);
    const inProduction = locked(({ dev }) => !dev);
    expect(inProduction).to.have.length.above(300);
    const forDevelopers = components.filter(isForDevelopers);
    expect(listed(components.filter((each: Component) => !isForDevelopers(each)))).to.include.members(inProduction);
    expect(forDevelopers).to.have.length.above(100);
    expect(locked(({ dev }) => dev === true)).to.include.members(listed(forDevelopers));
  });

  it('is what the image is built with', () => {
    expect(readFileSync('ops/deploy/Dockerfile', 'utf8')).to.include(`${scripts.sbom} > sbom.json`);
  });
});
