import { Button, Checkbox, Group, Paper, Stack, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { filesOf, type NamedFile, named } from '../dropped-files.ts';
import { useEndings } from '../taken-types.ts';
import { t } from '../text.ts';
import { startUploads } from '../uploads.ts';
import { Failure } from './failure.tsx';

/** Takes files, dropped anywhere on the page or chosen, and dropped folders, and starts the uploads. */
export function DropArea({ workspaceId }: { workspaceId: string }) {
  const input = useRef<HTMLInputElement>(null);
  const endings = useEndings();
  const [isOver, setIsOver] = useState(false);
  const [index, setIndex] = useState(true);
  const start = (files: NamedFile[]) => startUploads({ workspaceId, files, index });
  const dropped = useMutation({ mutationFn: filesOf, onSuccess: start });
  // Outside of the box, too: the browser would leave the page, and show the file instead.
  useWindowEvent('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setIsOver(true);
  });
  useWindowEvent('dragleave', (event) => {
    // Out of the window, not from one element to the next.
    if (event.relatedTarget === null) setIsOver(false);
  });
  useWindowEvent('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setIsOver(false);
    // Only while the event is handled they are there.
    dropped.mutate(Array.from(event.dataTransfer?.items ?? []).flatMap((item) => item.webkitGetAsEntry() ?? []));
  });
  return (
    <Paper withBorder p="lg" mb="lg" className="drop-area" data-over={isOver}>
      <Group justify="space-between" gap="md">
        <Stack gap={4} className="drop-words">
          <Text size="md" fw={600}>
            {t.documents.drop}
          </Text>
          <Text c="dimmed">
            {endings.kinds.length > 0 ? t.documents.dropHint(endings.kinds.map((ending) => ending.toUpperCase()).join(', ')) : '\u00a0'}
          </Text>
          <Checkbox
            size="sm"
            mt={6}
            label={t.documents.index}
            checked={index}
            onChange={(event) => setIndex(event.currentTarget.checked)}
          />
        </Stack>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          accept={endings.all.map((ending) => `.${ending}`).join(',')}
          onChange={({ currentTarget }) => {
            start(Array.from(currentTarget.files ?? []).map(named));
            currentTarget.value = '';
          }}
        />
        <Button onClick={() => input.current?.click()}>{t.documents.choose}</Button>
      </Group>
      <Failure error={dropped.error} />
    </Paper>
  );
}

/** Whether files are dragged, not a piece of the page. */
const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
