// Synonym lines about the web, the net, code, messages and people. Form and rules: search-synonyms.ts.
// Pure data.

export const WEB_LINES = `
# the web and the net
web search, internet search, search engine, search the web, search the internet, google search, serp, 搜索, 联网检索, ウェブ検索, 网页搜索, websuche, búsqueda web
search results, serp
internet, web, online, 互联网, インターネット
scrape, scraping, web scraping, scraper, crawl page, extract from website, fetch html, page content, 抓取, スクレイピング
website, web page, webpage, page, site, webseite, página, 网站, 网页, ウェブサイト
crawl, crawler, crawling, spider, sitemap
browser automation, web automation, headless browser, remote browser, browser session, control a browser, computer use
proxy, residential proxy, exit ip, unblock, ip rotation
monitor, monitoring, track changes, watch, follow, alert me, notify when, overwachung
price tracking, price history, price comparison, compare prices, track price, preisvergleich
link preview, open graph, opengraph, unfurl, metadata of a page
wayback, web archive, page snapshot, old version
url, link, hyperlink
web address > url, domain
url shortener, shorten url, short link, link shortener
domain, domain name, domains, web domain
domain availability, buy a domain, domain search, available domain, register domain, domain registration
whois, domain owner, registrant, registrar, website owner
dns, dns records, nameserver, mx record
subdomain, subdomains
ssl, tls, tls certificate, https certificate
uptime, website down, is it down, availability monitoring
hosting, deploy, deploy site, publish site, web hosting, host a website
tech stack, technology stack, technologies used, technographics, built with
seo, site audit, search engine optimization, search engine optimisation, search ranking, on-page
backlink, backlinks, inbound links, incoming links
search volume, keyword research
rss, feed, atom
webhook, callback
cloud storage, file storage, upload file, store file, ipfs, pin file, permanent storage, arweave
key-value, kv, key value store
pastebin, paste

# code and machines
code execution, execute code, run code, sandbox, code interpreter, isolated execution, run python, microvm, code ausführen, 代码执行
javascript, js
code review, review code, pull request, diff review
code generation, coding model, code completion, write code
sql, text to sql, natural language to sql, database query
h100, a100 > gpu
gpu, gpu rental, graphics card, compute rental, rent gpu
virtual machine, vm, linux box, linux machine, linux server, server rental
format code, code formatting, code style, formatter, prettier, lint, linter
diagram, mermaid, plantuml, flowchart
chart, graph, plot, bar chart, pie chart
math, mathematics, equation, algebra, calculus, solve, mathe, matemáticas, mathématiques, 数学, 方程
calculate, calculator, arithmetic, evaluate expression, rechnen, calcular, 计算
inch, foot, yard, mile, metre, meter, centimetre, centimeter, kilometre, kilometer, kilogram, celsius, fahrenheit, litre, gallon > unit conversion, metric imperial
unit conversion, convert units, measurement conversion, metric imperial
optimization, solver, linear programming
time series, predict values, forecasting model
uuid, unique id
open source, repository, github, repo, git
documentation, docs, library docs
mac address, hardware vendor

# messages and people
email, e-mail, mail, correo, courriel, электронная почта, 邮件, 邮箱, メール, 이메일
email verification, verify email, validate email, email validation, mailbox exists, deliverability
send email, transactional email, outgoing mail
email finder, find email, work email, business email, contact email
disposable email, temporary email, temp mail, throwaway, throw-away, burner email, disposable inbox
inbox, mailbox, posteingang
disposable, burner, temporary, throwaway, one-time, einweg
sms, text message, mobile message, short message, kurznachricht, mensaje de texto, 短信, ショートメッセージ
phone number, phone, telephone, mobile number, telefon, teléfono, téléphone, телефон, 电话, 電話, 전화
phone line, virtual number, rent number, temporary number
reverse phone lookup, who called, caller id
carrier lookup, hlr, line type
verification code, one-time passcode, otp, 2fa, two-factor, confirmation code, passcode, security code
verify, verification, validate, validation, confirm, prüfen, überprüfen, verificar, vérifier, 验证, 検証, 認証
voice call, phone call, call a business, telephone call
fax
letter, postal mail, physical mail, paper mail, snail mail
push notification, notify, notification, telegram, slack, discord
whatsapp, messenger
social media, social network, soziale medien, redes sociales
twitter, tweet, tweets, x posts
instagram, ig
tiktok, hashtags, viral
reddit, subreddit
linkedin, professional profile
youtube, video channel
farcaster, casts
influencer, influencers, creator, content creator
post, publish, publish post
company, firm, business, corporation, enterprise, organization, firma, unternehmen, empresa, entreprise, société, azienda, 公司, 企业, 会社, 회사
company data, firmendaten, unternehmensdaten, datos de empresa, firmographics, company profile, company information, company enrichment
employees, headcount, staff, workforce, mitarbeiter, empleados
revenue, turnover, sales figures, umsatz, ingresos
company register, business registry, commercial register, handelsregister, registro mercantil, trade register, companies house
director, officer, executive, decision maker, ceo, geschäftsführer
lead, leads, prospect, prospects, lead generation, sales leads, b2b contacts
enrich, enrichment, append data
funding, investment round, venture capital, investors
job, jobs, position, positions, vacancy, vacancies, opening, openings, job posting, employment, career, hiring, stelle, stellenangebote, empleo, trabajo, emploi, lavoro, вакансии, 招聘, 求人, 채용
developer, engineer, programmer
remote, work from home, telework
freelance, gig, gigs
human task, microtask, done by a human, human in the loop
given name, first name
government, civic, public sector
elected representative, member of parliament, congressman, senator
legislation, draft law, law making
legislation, congress, parliament, senate
tender, tenders, procurement, public purchasing, government contract, ausschreibung, licitación
law, legal, court, case law, judgment, lawsuit, litigation, recht, gesetz, ley, loi, 法律
patent, patents, invention, prior art
trademark, trademarks, brand registration, marca registrada, marke
`;
