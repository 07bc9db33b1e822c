import { named } from './dropped-files.ts';
import { startUploads } from './uploads.ts';

const addresses = import.meta.glob<string>('../../../docs/examples/samples/*.{pdf,md,txt,csv,html,png}', {
  query: '?url',
  import: 'default',
  eager: true,
});

/** Uploads the sample documents that the console brings along. */
export async function addSamples(workspaceId: string): Promise<void> {
  const files = Object.entries(addresses).map(async ([path, url]) => {
    const response = await fetch(url);
    return named(new File([await response.blob()], path.slice(path.lastIndexOf('/') + 1)));
  });
  startUploads({ workspaceId, files: await Promise.all(files), index: true });
}
