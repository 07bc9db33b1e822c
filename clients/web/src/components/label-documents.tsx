import type { Document } from '@sheaf/client';
import { useState } from 'react';
import { unlessGone } from '../document-queries.ts';
import { background } from '../service.ts';
import { t } from '../text.ts';
import { FormDialog } from './form-dialog.tsx';
import { TagsField } from './tags-field.tsx';

interface LabelDocumentsProps {
  documents: Document[];
  onClose: () => void;
}

/** Adds labels to several documents, one after the other. They keep those that they have. */
export function LabelDocuments({ documents, onClose }: LabelDocumentsProps) {
  const [added, setAdded] = useState<string[]>([]);
  const task = async () => {
    for (const { id, tags } of documents) await unlessGone(background.documents.update({ id, tags: [...new Set([...tags, ...added])] }));
  };
  return (
    <FormDialog title={t.labels.addTitle(documents.length)} action={t.common.save} task={task} changes={['documents']} onClose={onClose}>
      <TagsField label={t.labels.title} value={added} onChange={setAdded} />
    </FormDialog>
  );
}
