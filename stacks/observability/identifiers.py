"""List the managed data identifiers of CloudWatch Logs data protection.

Names come from the ARN lists of the pages "Types of data that you can protect" (protect-sensitive-log-data-types-pii,
-financial, -health, -credentials, -device). Most match only with a keyword within 30 characters of the value.
"""

from __future__ import annotations

from typing import Final


def _by_country(name: str, countries: str) -> tuple[str, ...]:
    return tuple(f"{name}-{country}" for country in countries.split())


MANAGED_IDENTIFIERS: Final = frozenset(
    (
        "Address",
        "CepCode-BR",
        "Cnpj-BR",
        "CpfCode-BR",
        "ElectoralRollNumber-GB",
        "EmailAddress",
        "IndividualTaxIdentificationNumber-US",
        "InseeCode-FR",
        "LatLong",
        "Name",
        "NieNumber-ES",
        "NifNumber-ES",
        "PermanentResidenceNumber-CA",
        "PostalCode-CA",
        "RgNumber-BR",
        "SocialInsuranceNumber-CA",
        "VehicleIdentificationNumber",
        "ZipCode-US",
        *_by_country("NationalIdentificationNumber", "DE ES IT"),
        *_by_country("PassportNumber", "CA DE ES FR GB IT US"),
        *_by_country("PhoneNumber", "BR DE ES FR GB IT US"),
        *_by_country("Ssn", "ES US"),
        *_by_country("TaxId", "DE ES FR GB"),
        *_by_country(
            "DriversLicense",
            "AT AU BE BG CA CY CZ DE DK EE ES FI FR GB GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK US",
        ),
        *_by_country("BankAccountNumber", "DE ES FR GB IT US"),
        "CreditCardExpiration",
        "CreditCardNumber",
        "CreditCardSecurityCode",
        "IpAddress",
        "DrugEnforcementAgencyNumber-US",
        "HealthcareProcedureCode-US",
        "HealthInsuranceCardNumber-EU",
        "HealthInsuranceClaimNumber-US",
        "HealthInsuranceNumber-FR",
        "MedicareBeneficiaryNumber-US",
        "NationalDrugCode-US",
        "NationalInsuranceNumber-GB",
        "NationalProviderId-US",
        "NhsNumber-GB",
        "PersonalHealthNumber-CA",
        "AwsSecretKey",
        "OpenSshPrivateKey",
        "PgpPrivateKey",
        "PkcsPrivateKey",
        "PuttyPrivateKey",
    )
)

UNVERIFIED_IDENTIFIERS: Final = frozenset({"CreditCardMagneticStripe", "DateOfBirth", "PhoneNumber", "PhoneNumber-CA"})
"""Names that stand in tables or libraries but in no ARN list: refused until a live account shows that they work."""
