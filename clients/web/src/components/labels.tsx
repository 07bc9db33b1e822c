import { Button, Group, Text, Textarea } from '@mantine/core';
import type { Document } from '@sheaf/client';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient, slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { FormDialog } from './form-dialog.tsx';
import { LinkTo } from './link-to.tsx';
import { TagsField } from './tags-field.tsx';
import type { FormTask } from './use-form-task.ts';

const place = getRouteApi('/o/$organization/$workspace');

/** The labels of a document; each leads to all documents that have it. */
export function Tags({ tags }: { tags: string[] }) {
  const params = slugsOf(place.useRouteContext());
  return tags.map((tag) => (
    <LinkTo key={tag} to="/o/$organization/$workspace/documents" params={params} search={{ tags: [tag] }} className="tag foreign">
      {tag}
    </LinkTo>
  ));
}

/** What a document is labeled with, and the way to change it. */
export function Labels({ document }: { document: Document }) {
  const [isEdited, setIsEdited] = useState(false);
  const { tags, metadata } = document;
  const isLabeled = tags.length > 0 || Object.keys(metadata).length > 0;
  return (
    <>
      <Group gap="xs" mb="sm">
        <Text>{t.labels.title}</Text>
        {!isLabeled && <Text c="dimmed">{t.labels.none}</Text>}
        <Tags tags={tags} />
        <Button size="compact-sm" variant="default" onClick={() => setIsEdited(true)}>
          {t.labels.edit}
        </Button>
      </Group>
      {Object.keys(metadata).length > 0 && (
        <details>
          <summary>{t.labels.metadata}</summary>
          <pre className="foreign raw">{JSON.stringify(metadata, undefined, 2)}</pre>
        </details>
      )}
      {isEdited && <EditLabels document={document} onClose={() => setIsEdited(false)} />}
    </>
  );
}

function EditLabels({ document: { id, name, ...document }, onClose }: { document: Document; onClose: () => void }) {
  const [tags, setTags] = useState(document.tags);
  const task: FormTask = async ({ metadata = '' }) => {
    await service.documents.update({ id, tags, metadata: parse(metadata) });
    for (const key of ['document', 'documents']) await queryClient.invalidateQueries({ queryKey: [key] });
    onClose();
  };
  return (
    <FormDialog title={t.labels.editTitle(name)} action={t.common.save} task={task} onClose={onClose}>
      <TagsField label={t.labels.title} value={tags} onChange={setTags} />
      <Textarea
        label={t.labels.metadata}
        description={t.labels.metadataHint}
        name="metadata"
        rows={6}
        spellCheck={false}
        defaultValue={JSON.stringify(document.metadata, undefined, 2)}
      />
    </FormDialog>
  );
}

/** An object of JSON; nothing is an empty one. */
function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text.trim() || '{}');
  } catch {
    throw new Error(t.labels.noJson);
  }
}
