import type { FieldSchema, ObjectSchema, ShippedSchemaName } from '../../contract/field-schema.ts';

const text = (description?: string): FieldSchema => ({ type: 'string', description });
const amount = (description?: string): FieldSchema => ({ type: 'number', description });
const date = (description?: string): FieldSchema => ({ type: 'string', format: 'date', description });
const listOf = (properties: ObjectSchema['properties']): FieldSchema => ({ type: 'array', items: { type: 'object', properties } });
const currency = text('As it is written: EUR, €, $.');

/** The schemas that a job may name. */
const shippedSchemas: Record<ShippedSchemaName, ObjectSchema> = {
  invoice: {
    type: 'object',
    properties: {
      number: text('The number of the invoice.'),
      date: date('When it was issued.'),
      due: date('When it has to be paid.'),
      seller: text('Who issued it.'),
      buyer: text('Who has to pay it.'),
      taxNumber: text('The tax or VAT number of the seller.'),
      iban: text('The account to pay to.'),
      currency,
      net: amount('The sum before tax.'),
      tax: amount('The tax.'),
      total: amount('What is to be paid.'),
      lines: listOf({ description: text('What was sold.'), quantity: amount(), price: amount('Of one.'), amount: amount('Of the line.') }),
    },
  },
  receipt: {
    type: 'object',
    properties: {
      merchant: text('Where it was bought.'),
      date: date('When it was paid.'),
      currency,
      tax: amount('The tax.'),
      total: amount('What was paid.'),
      paidBy: text('Cash, or the kind of card.'),
      items: listOf({ name: text('What was bought.'), amount: amount('Its price.') }),
    },
  },
  contract: {
    type: 'object',
    properties: {
      title: text('What the contract calls itself.'),
      parties: { type: 'array', items: text('The name of a party.') },
      signed: date('When it was signed.'),
      begins: date('When it takes effect.'),
      ends: date('When it ends.'),
      notice: text('How long before its end notice has to be given.'),
      payment: amount('What has to be paid each time.'),
      currency,
      law: text('The law that governs it.'),
      place: text('The place of jurisdiction.'),
    },
  },
  letter: {
    type: 'object',
    properties: {
      sender: text('Who wrote it.'),
      recipient: text('To whom it was written.'),
      date: date('When it was written.'),
      subject: text('Its subject line.'),
      reference: text('The number or sign that it refers to.'),
      deadline: date('Until when something has to be done.'),
    },
  },
};

/** The schema of a job, by its name or as it was sent. */
export function schemaOf(given: unknown): ObjectSchema {
  return (typeof given === 'string' ? shippedSchemas[given as ShippedSchemaName] : given) as ObjectSchema;
}
