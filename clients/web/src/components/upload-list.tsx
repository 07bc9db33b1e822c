import { Button, Group, Paper, Progress, Text, Title } from '@mantine/core';
import { memo } from 'react';
import { formatBytes, t } from '../text.ts';
import { cancelUpload, clearUploads, isUnderWay, mayBeSentAgain, removeUpload, retryUpload, type UploadItem, uploads } from '../uploads.ts';
import { Failure } from './failure.tsx';

/** The uploads of a workspace, each with its progress. */
export function UploadList({ workspaceId }: { workspaceId: string }) {
  const items = uploads.use().filter((each) => each.workspaceId === workspaceId);
  if (items.length === 0) return null;
  const isDone = !items.some(isUnderWay);
  return (
    <section aria-label={t.uploads.title}>
      <Paper withBorder p="md" mb="lg">
        <Group justify="space-between" mb="sm">
          <Title order={2} size="h5">
            {t.uploads.title}
          </Title>
          {isDone && (
            <Button size="compact-sm" variant="default" onClick={clearUploads}>
              {t.uploads.clear}
            </Button>
          )}
        </Group>
        <ul className="plain-list">
          {items.map((item) => (
            <Upload key={item.key} item={item} />
          ))}
        </ul>
      </Paper>
    </section>
  );
}

/** Of a whole folder only the rows that changed are drawn again. */
const Upload = memo(function Upload({ item }: { item: UploadItem }) {
  const { key, file, name, state, sentBytes, error } = item;
  const percent = file.size === 0 ? 0 : Math.round((sentBytes / file.size) * 100);
  const how = state === 'sending' ? t.common.of(formatBytes(sentBytes), formatBytes(file.size)) : t.uploads[state];
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" className="foreign one-line">
          {name}
        </Text>
        <Group gap="xs" wrap="nowrap" className="keep">
          <Text size="sm" c="dimmed">
            {how}
          </Text>
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
      <Failure error={error} title={t.uploads[state]} />
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
