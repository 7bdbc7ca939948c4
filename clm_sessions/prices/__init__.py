"""What API replies cost, as an estimate: prices a model and a day, from genai-prices or from a person's own settings.

An estimate is list prices times recorded tokens. Batch and priority tiers, fees for searches, subscriptions and
discounts are not in it. What is not known has no price: an unknown model, tokens that were not recorded, a model that
changed its price and no day to tell by, one whose price depends on the hour of the day.
"""

from clm_sessions.prices.book import Book
from clm_sessions.prices.own import parse_own
from clm_sessions.prices.values import Price, cost

__all__ = ["Book", "Price", "cost", "parse_own"]
