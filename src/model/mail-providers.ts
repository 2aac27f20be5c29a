// Where the usual providers take mail by SMTP submission (RFC 6409, RFC 8314), by their own documentation. `user` is given where
// it is the same for all of their customers.

export const mailProviders = [
  {
    id: 'gmail',
    name: 'Gmail, Google Workspace',
    host: 'smtp.gmail.com',
    port: 465,
    encryption: 'tls',
  },
  {
    id: 'microsoft365',
    name: 'Microsoft 365',
    host: 'smtp.office365.com',
    port: 587,
    encryption: 'starttls',
  },
  {
    id: 'ses',
    name: 'Amazon SES',
    host: 'email-smtp.us-east-1.amazonaws.com',
    port: 465,
    encryption: 'tls',
  },
  {
    id: 'postmark',
    name: 'Postmark',
    host: 'smtp.postmarkapp.com',
    port: 587,
    encryption: 'starttls',
  },
  {
    id: 'mailgun',
    name: 'Mailgun',
    host: 'smtp.mailgun.org',
    port: 465,
    encryption: 'tls',
  },
  {
    id: 'mailgun-eu',
    name: 'Mailgun (EU)',
    host: 'smtp.eu.mailgun.org',
    port: 465,
    encryption: 'tls',
  },
  {
    id: 'sendgrid',
    name: 'SendGrid',
    host: 'smtp.sendgrid.net',
    port: 465,
    encryption: 'tls',
    user: 'apikey',
  },
  {
    id: 'brevo',
    name: 'Brevo',
    host: 'smtp-relay.brevo.com',
    port: 587,
    encryption: 'starttls',
  },
  {
    id: 'resend',
    name: 'Resend',
    host: 'smtp.resend.com',
    port: 465,
    encryption: 'tls',
    user: 'resend',
  },
  {
    id: 'fastmail',
    name: 'Fastmail',
    host: 'smtp.fastmail.com',
    port: 465,
    encryption: 'tls',
  },
] as const;
