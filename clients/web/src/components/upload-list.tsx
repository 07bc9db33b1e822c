import { Button, Group, Paper, Progress, Text, Title, VisuallyHidden } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import { formatBytes, t } from '../text.ts';
import {
  cancelUpload,
  clearUploads,
  hasEndedWell,
  isUnderWay,
  mayBeSentAgain,
  removeUpload,
  retryUpload,
  type UploadItem,
  uploads,
} from '../uploads.ts';
import { Failure } from './failure.tsx';
import { ShortName } from './short-name.tsx';

/** So many are shown at once; of more there is one bar, which opens to the list. */
const fewUploads = 4;

/** Whether the file is a document, and only making that searchable has failed. */
const isOnlyStored = ({ state, documentId }: UploadItem) => state === 'failed' && documentId !== undefined;

/** The uploads of a workspace, or of a document's new versions: how far they are in all, and each with its progress. */
export function UploadList({ workspaceId, replaces }: { workspaceId: string; replaces?: string }) {
  const items = uploads.use().filter((each) => each.workspaceId === workspaceId && (!replaces || each.replaces === replaces));
  if (items.length === 0) return null;
  const isDone = !items.some(isUnderWay);
  const list = (
    <ul className="plain-list">
      {items.map((item) => (
        <Upload key={item.key} item={item} />
      ))}
    </ul>
  );
  return (
    <section aria-label={t.uploads.title}>
      <Paper withBorder p="md" mb="lg">
        <Group justify="space-between" mb="sm">
          <Title order={2} size="h5">
            {t.uploads.title}
          </Title>
          {isDone && items.some(hasEndedWell) && (
            <Button size="compact-sm" variant="default" onClick={clearUploads}>
              {t.uploads.clear}
            </Button>
          )}
        </Group>
        {/* Rows that change say nothing to a screen reader, and each byte would be too much. */}
        <VisuallyHidden role="status">{isDone && countsOf(items)}</VisuallyHidden>
        {items.length <= fewUploads ? list : <Whole items={items}>{list}</Whole>}
      </Paper>
    </section>
  );
}

/** How many are stored, and how many have failed. */
function countsOf(items: UploadItem[]): string {
  const stored = items.filter((item) => item.state === 'done' || isOnlyStored(item)).length;
  return t.uploads.whole(stored, items.length, items.filter(({ state }) => state === 'failed').length);
}

/** How far many uploads are in all. */
function Whole({ items, children }: { items: UploadItem[]; children: ReactNode }) {
  const done = items.filter(({ state }) => state === 'done').length;
  const failed = items.filter(({ state }) => state === 'failed').length;
  const share = (part: number) => (100 * part) / items.length;
  return (
    <>
      <Progress.Root size="md" mb="xs">
        <Progress.Section value={share(done)} aria-label={t.uploads.progressOfAll} />
        {failed > 0 && <Progress.Section value={share(failed)} color="red.8" aria-label={t.uploads.failed} />}
      </Progress.Root>
      <details>
        <summary>{countsOf(items)}</summary>
        <div className="opened">{children}</div>
      </details>
    </>
  );
}

/** Of a whole folder only the rows that changed are drawn again. */
const Upload = memo(function Upload({ item }: { item: UploadItem }) {
  const { key, file, name, state, sentBytes, duplicateOf, error } = item;
  const percent = file.size === 0 ? 0 : Math.round((sentBytes / file.size) * 100);
  const isStored = isOnlyStored(item);
  const how = state === 'sending' ? t.common.of(formatBytes(sentBytes), formatBytes(file.size)) : t.uploads[isStored ? 'done' : state];
  return (
    <li>
      <Group justify="space-between" gap="xs">
        <Text component="span" className="foreign one-line grows">
          <ShortName name={name} />
        </Text>
        <Group gap="xs">
          <Text c="dimmed">{how}</Text>
          {isUnderWay(item) && <Act label={t.uploads.cancel(name)} text={t.common.cancel} onClick={() => cancelUpload(key)} />}
          {mayBeSentAgain(item) && <Act label={t.uploads.retry(name)} text={t.common.retry} onClick={() => retryUpload(key)} />}
          {(state === 'failed' || state === 'canceled') && (
            <Act label={t.uploads.remove(name)} text={t.common.remove} onClick={() => removeUpload(key)} />
          )}
        </Group>
      </Group>
      {isUnderWay(item) && (
        <Progress.Root size="sm" mt={4}>
          <Progress.Section value={percent} aria-label={t.uploads.progress(name)} />
        </Progress.Root>
      )}
      {duplicateOf !== undefined && <Text c="dimmed">{t.uploads.duplicateOf(duplicateOf)}</Text>}
      <Failure error={error} title={isStored ? t.document.failed(t.jobs.kinds['document.index']) : t.uploads[state]} />
    </li>
  );
});

function Act({ label, text, onClick }: { label: string; text: string; onClick: () => void }) {
  return (
    <Button size="compact-sm" variant="default" aria-label={label} onClick={onClick}>
      {text}
    </Button>
  );
}
