import type { Document } from '@sheaf/client';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { Confirm } from './confirm.tsx';

interface DeleteDocumentProps {
  document: Document;
  onClose: () => void;
  onDone?: () => void;
}

/** Asks, and deletes. */
export function DeleteDocument({ document: { id, name }, ...rest }: DeleteDocumentProps) {
  return (
    <Confirm
      title={t.documents.deleteTitle(name)}
      text={t.documents.deleteText}
      action={t.common.delete}
      task={() => service.documents.delete({ id })}
      changes={['documents']}
      {...rest}
    />
  );
}
