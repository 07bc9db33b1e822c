import { join } from 'node:path';
import { createSupervisor } from '../../../../ops/local/supervise.ts';
import { findTemporalCli } from '../../../../ops/local/temporal-cli.ts';
import { buildGoProgram } from './go-program.ts';
import type { Recipe } from './recipe.ts';
import { RootDirectory, workDirectory } from './root-directory.ts';

/** As the published image starts; the configuration is in the program, with variables. */
const entrypoint = `#!/bin/sh
set -eu
if [ "$BIND_ON_IP" = 0.0.0.0 ]; then export TEMPORAL_BROADCAST_ADDRESS="$(getent hosts "$(hostname)" | cut -d ' ' -f 1)"; fi
exec temporal-server start
`;

/** Temporal's server of a version, which needs a schema and a file of dynamic configuration, and makes no namespace. */
export const makeTemporalServer = (version: string): Recipe => ({
  madeOf: `Debian, netcat and the Go module go.temporal.io/server ${version}, started as the published image is`,
  async make(name) {
    const server = await buildGoProgram('go.temporal.io/server/cmd/server', `v${version}`);
    const root = await RootDirectory.create(['netcat-openbsd']);
    root.copyProgram(server, '/usr/local/bin/temporal-server');
    root.write('/etc/temporal/entrypoint.sh', entrypoint, 0o755);
    await addUser(root);
    await root.toImage(name, this.madeOf, ['USER temporal', 'WORKDIR /etc/temporal', 'EXPOSE 7233', 'CMD ["/etc/temporal/entrypoint.sh"]']);
  },
});

/** The schema tool of a version, and Temporal's CLI. */
export const makeTemporalTools = (version: string): Recipe => ({
  madeOf: `Debian, the schema tool of the Go module go.temporal.io/server ${version}, and Temporal's CLI`,
  async make(name) {
    const sqlTool = await buildGoProgram('go.temporal.io/server/cmd/tools/sql', `v${version}`);
    const root = await RootDirectory.create([]);
    root.copyProgram(sqlTool, '/usr/local/bin/temporal-sql-tool');
    root.copyProgram(await findCli(), '/usr/local/bin/temporal');
    await addUser(root);
    await root.toImage(name, this.madeOf, ['USER temporal', 'CMD ["sh", "-c", "trap exit INT HUP TERM; sleep infinity"]']);
  },
});

async function addUser(root: RootDirectory): Promise<void> {
  await root.run('useradd', ['--uid', '1000', '--create-home', 'temporal']);
}

async function findCli(): Promise<string> {
  const supervisor = createSupervisor();
  const directory = workDirectory();
  try {
    return await findTemporalCli({ supervisor, logFile: join(directory, 'cli.log'), note: () => {} });
  } finally {
    await supervisor.close();
  }
}
