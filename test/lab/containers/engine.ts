import { tryCommand } from './run-command.ts';

/** How a machine gets a container engine; printed if it has none. */
export const howToGetAnEngine = `This needs a container engine and its compose plugin.
On Debian, as root:

  apt-get install docker.io debootstrap golang openssl
  dockerd >/var/log/dockerd.log 2>&1 &

and for compose, the package docker-compose-v2 or docker-compose-plugin where
there is one, or with Go:

  go install github.com/docker/compose/v2/cmd@v2.29.7
  install -D "$(go env GOPATH)/bin/cmd" ~/.docker/cli-plugins/docker-compose

Elsewhere: https://docs.docker.com/engine/install/
`;

/** The versions of the engine and of compose, or the reason why there is none. */
export async function findEngine(): Promise<{ engine: string; compose: string } | { missing: string }> {
  const engine = await tryCommand('docker', ['version', '--format', '{{.Server.Version}}']);
  if (engine.code !== 0) return { missing: firstLine(engine.stderr) };
  const compose = await tryCommand('docker', ['compose', 'version', '--short']);
  if (compose.code !== 0) return { missing: 'docker has no compose plugin' };
  return { engine: engine.stdout.trim(), compose: compose.stdout.trim() };
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
