import { buildGoProgram } from './go-program.ts';
import type { Recipe } from './recipe.ts';
import { RootDirectory } from './root-directory.ts';

const entrypoint = `#!/bin/sh
set -eu
mkdir -p /tmp/config
cat >/tmp/config/docker.yaml <<YAML
temporalGrpcAddress: $TEMPORAL_ADDRESS
host: 0.0.0.0
port: 8080
enableUi: true
codec: { endpoint: "\${TEMPORAL_CODEC_ENDPOINT:-}" }
YAML
exec ui-server --root / --config tmp/config --env docker start
`;

/** The UI server of a version. */
export const makeTemporalUi = (version: string): Recipe => ({
  madeOf: `Debian and the Go module github.com/temporalio/ui-server ${version}, told of a codec server`,
  async make(name) {
    const server = await buildGoProgram('github.com/temporalio/ui-server/v2/cmd/server', `v${version}`);
    const root = await RootDirectory.create([]);
    root.copyProgram(server, '/usr/local/bin/ui-server');
    root.write('/usr/local/bin/start.sh', entrypoint, 0o755);
    await root.run('useradd', ['--uid', '5000', '--create-home', 'temporal']);
    await root.toImage(name, this.madeOf, ['USER temporal', 'EXPOSE 8080', 'ENTRYPOINT ["start.sh"]']);
  },
});
