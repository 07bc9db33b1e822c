import { Button, Checkbox, Group, Paper, Stack, Text } from '@mantine/core';
import { contentTypesByExtension } from '@sheaf/client';
import { type DragEvent, useRef, useState } from 'react';
import { t } from '../text.ts';
import { startUploads } from '../uploads.ts';

const accepted = Object.keys(contentTypesByExtension).map((extension) => `.${extension}`);

/** Takes files, dropped or chosen, and starts their uploads. */
export function DropArea({ workspaceId }: { workspaceId: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const [index, setIndex] = useState(true);
  const take = (files: FileList | null) => files && startUploads({ workspaceId, files: [...files], index });
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    take(event.dataTransfer.files);
  };
  const onDragOver = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(true);
  };
  return (
    <Paper
      withBorder
      p="lg"
      mb="lg"
      className="drop-area"
      data-over={isOver}
      onDrop={onDrop}
      onDragOver={onDragOver}
      onDragLeave={() => setIsOver(false)}
    >
      <Group justify="space-between" gap="md">
        <Stack gap={4} className="drop-words">
          <Text fw={600}>{t.documents.drop}</Text>
          <Text size="sm" c="dimmed">
            {t.documents.dropHint}
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
          accept={accepted.join(',')}
          onChange={({ currentTarget }) => {
            take(currentTarget.files);
            currentTarget.value = '';
          }}
        />
        <Button onClick={() => input.current?.click()}>{t.documents.choose}</Button>
      </Group>
    </Paper>
  );
}
