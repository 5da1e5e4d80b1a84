// Synonym lines about markets, chains and whom to trust with money. Form and rules: search-synonyms.ts.
// Pure data.

export const MONEY_LINES = `
# money and markets
currency, fx, forex, foreign exchange, currency exchange, exchange rate, exchange rates, money exchange, wechselkurs, devisen, divisas, tipo de cambio, taux de change, cambio, valute, валюта, курс, 汇率, 為替, 환율, ccy
currency conversion, currency converter, convert currency, convert money, währungsrechner, conversor de moneda
dollar, usd
euro, eur
pound sterling, gbp
yen, jpy
usd, eur, gbp, jpy, cny, inr, chf, cad, aud, mxn, brl > currency, fx, exchange rate
remittance, money transfer, wire money, send money, send money abroad, international transfer, überweisung, transferencia, envoi d'argent
remittance, money transfer, send money > exchange rate, currency conversion
stock, stocks, share, shares, equity, equities, aktie, aktien, acción, acciones, bourse, azioni, акции, 股票, 株, 株式, 주식
stock price, stock quote, share price, ticker price, market quote, aktienkurs, cotización, cours de bourse, 股价, 株価, 주가
stock price, aktienkurs > stock, quote, ticker
quote, price quote, market quote, 行情, 시세, 気配
price, prices, cost, pricing, preis, preise, precio, precios, prix, prezzo, preço, цена, 价格, 価格, 値段, 가격
rate, rates, tarif, tariff, tasa, taux
ticker, symbol
company results, earnings, quarterly results, eps
fundamentals, balance sheet, income statement, financial statements, financials, cash flow, p/e
dividend, payout, ex-date
option chain, options, calls and puts, greeks, derivatives
screener, filter stocks, stock filter, screen stocks
analyst rating, price target, broker rating, upgrade downgrade
insider trading, form 4, insiders
sec filing, filings, 10-k, 10-q, 8-k, edgar, annual report, regulatory filing, geschäftsbericht
hedge fund, 13f, institutional holdings
commodity, commodities, raw material
precious metal, metals, bullion, edelmetall
gold, silver, platinum > precious metal, metals, commodity
bond, yields, treasury, interest rate, policy rate, zinsen
inflation, cpi, consumer price index
economic, economy, macro, macroeconomic, gdp, economic indicator
economic calendar, central bank meeting, fed meeting, fomc, rate decision
fed, federal reserve, central bank, ecb, fomc
esg, sustainability rating
credit score, creditworthiness, credit rating, bonität
technical analysis, rsi, macd, indicators
candles, candlestick, chart bars, price bars, ohlc, ohlcv, klines, price history, chart data
historical price, price history, past prices
sentiment, mood, opinion, tone, stimmung, sentimiento, 情感, 感情
real-time, realtime, live, instant, echtzeit, tiempo real, en vivo, temps réel, 实时, リアルタイム, 실시간
vat, value added tax, mehrwertsteuer, iva, tva, vies
tax, taxes, steuer, impuesto, impôt, sales tax
payroll, net pay, gross salary, wage calculation, gehaltsrechner
profession, occupation, job title
salary, wage, compensation, pay range, earn, gehalt, sueldo, salaire, 工资, 給料
iban, bank account number, bic, swift code
card bin, bin lookup, issuer, payment card, credit card, kreditkarte, tarjeta, クレジットカード, 信用卡
gift card, voucher, top-up
insurance, insurance claim
escrow, hold funds, locked payment
invoice, bill, rechnung, rechnungen, factura, facture, 发票, 請求書
receipt, receipts, till slip, quittung, beleg, belege, recibo, reçu, 收据, レシート
expense, expenses, spesen, gastos
accounting, bookkeeping, buchhaltung, contabilidad

# chains, tokens, wallets
crypto, cryptocurrency, cryptocurrencies, coin, coins, krypto, criptomoneda, cripto, crypto-monnaie, криптовалюта, 加密货币, 暗号資産, 仮想通貨, 암호화폐
bitcoin, btc, 比特币, ビットコイン
ethereum, eth, ether, 以太坊
solana, sol, spl
token, tokens, erc20, erc-20, spl token, 代币
token price, coin price, crypto price
blockchain, onchain, on-chain, chain, ledger, 区块链, ブロックチェーン
wallet, wallet address, crypto address, blockchain address, 钱包, ウォレット
wallet balance, token balance, balances, holdings
portfolio, holdings, positions, assets held
transaction, transactions, tx, transfer history, transaktion, transacción
gas, gas fee, gas price, gwei, transaction fee, network fee, priority fee
json-rpc, rpc, rpc node, node provider, archive node, rpc endpoint
dex, decentralized exchange, decentralised exchange, swap, token swap
bridge, cross-chain, cross chain, bridging
defi, decentralized finance, decentralised finance, lending market
yield, apy, apr, interest on deposits, staking yield
tvl, total value locked
liquidity pool, pool, pools, lp, liquidity
liquidation, health factor
perp, perps, perpetual, funding rate, open interest, futures
stablecoin, peg, depeg
usdc, usdt > stablecoin
nft, collectible, collectibles, erc-721, digital art token
mint, minting
floor price, nft floor
smart contract, contract code, solidity, 智能合约, スマートコントラクト
contract audit, smart contract audit, 合约审计, vulnerability scan, security review, reentrancy
honeypot, rug pull, rugpull, scam token, token safety, rug, token scam
scam, fraud, fraudulent, betrug, estafa, arnaque, 诈骗, 詐欺
allowance, approvals, token approval, revoke
whale, large transfer, big holder, smart money
airdrop, token claim
ens, eth name, name service, web3 name
abi, calldata, decode transaction, contract interface
simulate, simulation, dry run
validator, staking, stake
dao, governance, proposals, vote
mev, front-running, private transaction
vesting, token unlock
onramp, offramp, cash out, fiat
fear and greed, market sentiment
prediction market, event contract, betting market, forecasting market, polymarket
gambler, bettor, punter > odds, prediction market, betting
randomness, random number, random, rng, provably fair, verifiable random, entropy, dice, coin flip, zufallszahl, 乱数, 随机数
oracle, price feed, attestation, signed price
address label, wallet label, wallet owner, address owner, entity label
profit and loss, pnl, capital gains, realised profit, realized profit, trading profit
reputation, trust score, trustworthy, trustworthiness, trust, reliability, credibility
ai agent, bot

# safety, compliance, identity
sanctions, sanctioned, ofac, watchlist, blocklist, blacklist, sdn, sanktionen, sanktionsliste, sanciones, 制裁
aml, anti-money-laundering, money laundering, kyt, wallet screening, transaction monitoring, geldwäsche
wallet risk, address risk, risk score, risky address
screening, screen, vetting
sanctions, sanctioned > aml, kyt, compliance, wallet screening
pep, politically exposed
compliance, regulatory check, travel rule
kyc, identity verification, verify identity, id verification, know your customer, onboarding
kyb, business verification, know your business
passport, id card, identity document, driving licence, driver's license, ausweis, pasaporte, 护照, パスポート
selfie, face match, face comparison, same person, liveness, facial
face, faces, gesicht, rostro, 人脸, 顔
age verification, age estimation, 18+
personhood, proof of human, unique human, humanity, real person, real human, human verification, living person
captcha, bot detection
malware, virus, antivirus, trojan, infected file
phishing, malicious link, dangerous link, suspicious link, scam link, unsafe link, dangerous url, link safety, url safety, scam site
vulnerability, cve, security hole, exploit
dependency > package, library
threat intelligence, indicators of compromise, ioc
breach, leaked, leak, pwned, data breach, hacked
ip address, ip, ip geolocation, ip location
ip reputation, vpn detection, proxy detection, abuse score
port scan, open ports
prompt injection, jailbreak
pii, personal data, personal information, sensitive data, sensitive information, private data, personenbezogene daten, datos personales
redact, mask, anonymize, anonymise, hide
moderation, toxicity, hate speech, nsfw, content filter, abusive, profanity, nudity
deepfake, ai-generated image, manipulated image, fake photo, fake image, fake picture
fact check, fact-checking, misinformation, verify a claim
plagiarism, copied text, copied
ai text detection, written by ai
`;
